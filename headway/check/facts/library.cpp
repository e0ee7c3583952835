#include "headway/check/facts/library.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "headway/check/facts/ask_program.h"
#include "headway/probe/process/elf_dynamic.h"
#include "headway/probe/process/elf_symbols.h"
#include "headway/probe/process/target_file.h"

namespace headway {
namespace {

constexpr double kLoaderSeconds = 5;
constexpr uint64_t kLargestLibrary = uint64_t{8} << 30;
// What fast libraries have and the plain one does not.
const std::vector<std::string> kFastNames = {"openblas_get_config", "MKL_Get_Version",
                                             "bli_info_get_version_str", "ATL_buildinfo"};

bool names_fast_blas(const std::string& file) {
  for (const char* word : {"openblas", "libmkl", "libblis", "atlas", "nvpl", "libsci"})
    if (file.find(word) != std::string::npos) return true;
  return false;
}

bool names_blas(const std::string& file) {
  return names_fast_blas(file) || file.starts_with("libblas.") || file.starts_with("libcblas.");
}

// The dynamic loader that started this program.
std::string loader() {
  const auto self = open_library("/proc/self/exe");
  if (!self) return "";
  for (const Elf64_Phdr& segment : self->segments()) {
    if (segment.p_type != PT_INTERP) continue;
    const std::string path = self->part(segment.p_offset, segment.p_filesz);
    return path.substr(0, path.find('\0'));
  }
  return "";
}

std::string last_line(const std::string& text) {
  const size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return "";
  const size_t before = text.rfind('\n', end);
  const size_t begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, end - begin + 1);
}

}  // namespace

std::optional<ElfImage> open_library(const std::string& path) {
  std::error_code error;
  // TargetFile follows no link of /proc.
  const std::string file = std::filesystem::canonical(path, error).string();
  const auto user = file_user_of(::getpid());
  if (error || !user) return std::nullopt;
  auto opened = TargetFile::open(::getpid(), *user, file, TargetFile::Owner::kAny, kLargestLibrary);
  if (!opened) return std::nullopt;
  return ElfImage::open(std::move(*opened));
}

LoaderAnswer libraries_of(const std::string& file) {
  static const std::string program = loader();
  LoaderAnswer out;
  if (program.empty()) {
    out.trouble = "this program has no dynamic loader that could be asked";
    return out;
  }
  std::error_code error;  // "/proc/self/exe" would be the loader's own
  const std::string real = std::filesystem::canonical(file, error).string();
  const Answer answer =
      ask_program({program, error ? file : real}, kLoaderSeconds, {"LD_TRACE_LOADED_OBJECTS=1"});
  if (!answer.good()) out.trouble = answer.trouble.empty() ? last_line(answer.err) : answer.trouble;
  std::istringstream lines(answer.out);
  for (std::string line; std::getline(lines, line);) {
    const size_t begin = line.find_first_not_of(" \t"), arrow = line.find(" => ");
    if (begin == std::string::npos || arrow == std::string::npos || arrow < begin) continue;
    LoadedLibrary each{.name = line.substr(begin, arrow - begin)};
    const std::string path = line.substr(arrow + 4);
    if (path.starts_with("/")) each.path = path.substr(0, path.rfind(" (0x"));
    out.libraries.push_back(std::move(each));
  }
  return out;
}

std::vector<std::string> library_path() {
  const char* value = std::getenv("LD_LIBRARY_PATH");
  std::vector<std::string> out;
  std::string folder;
  for (const char c : std::string(value ? value : "") + ":") {
    if (c != ':' && c != ';') {
      folder += c;
    } else {
      if (!folder.empty()) out.push_back(folder);
      folder.clear();
    }
  }
  return out;
}

std::vector<LoadedLibrary> cached_libraries(const std::string& prefix) {
  static const Answer answer = [] {
    const char* program = ::access("/sbin/ldconfig", X_OK) == 0 ? "/sbin/ldconfig" : "ldconfig";
    return ask_program({program, "-p"}, kLoaderSeconds);
  }();
  std::vector<LoadedLibrary> out;
  std::istringstream lines(answer.out);
  for (std::string line; std::getline(lines, line);) {
    const size_t begin = line.find_first_not_of(" \t"), arrow = line.find(" => ");
    if (begin == std::string::npos || arrow == std::string::npos) continue;
    const std::string name = line.substr(begin, line.find(' ', begin) - begin);
    if (name.starts_with(prefix)) out.push_back({name, line.substr(arrow + 4)});
  }
  return out;
}

bool can_open_libraries() { return file_user_of(::getpid()).has_value(); }

std::optional<bool> is_reference_blas(const std::string& path) {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(path, error);
  if (!error && names_fast_blas(file.filename().string())) return false;
  const auto image = error ? std::nullopt : open_library(file.string());
  if (!image) return std::nullopt;
  const std::vector<std::string> needed = dynamic_of(*image).needed;
  if (std::any_of(needed.begin(), needed.end(), names_fast_blas)) return false;
  const ElfSymbols found = find_elf_symbols(*image, kFastNames);
  return found.symbols.empty();
}

std::optional<BlasFacts> blas_among(const std::vector<LoadedLibrary>& libraries,
                                    const std::string& user) {
  // The loader lists them in the order in which functions are looked up. The C interface alone
  // calls another one.
  const LoadedLibrary* first = nullptr;
  for (const LoadedLibrary& each : libraries) {
    if (each.path.empty() || !names_blas(each.name)) continue;
    if (!first || (first->name.starts_with("libcblas") && !each.name.starts_with("libcblas")))
      first = &each;
  }
  if (!first) return std::nullopt;
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(first->path, error);
  return BlasFacts{user, error ? first->path : real.string(), is_reference_blas(first->path)};
}

}  // namespace headway
