#include "headway/check/facts/cuda_libraries.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "headway/check/facts/library.h"
#include "headway/probe/process/elf_dynamic.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFamilies[] = {"cudart", "cublas", "cudnn"};
constexpr size_t kMostEntries = 20000;  // of a folder

class Search {
 public:
  // A file counts once, at the first place.
  void add(const std::string& family, const std::string& path, CudaLibrary::From from,
           const std::string& package_version = "") {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    if (error || !seen_.insert(path).second) return;
    CudaLibrary found{.family = family, .path = path, .from = from};
    found.name = fs::path(path).filename().string(), found.real = real.string();
    found.version =
        package_version.empty() ? version_in_name(real.filename().string()) : package_version;
    if (const auto image = open_library(path)) found.inner_name = dynamic_of(*image).soname;
    else found.is_library = !can_open_libraries() || ::access(path.c_str(), R_OK) != 0;
    if (found.version.empty()) found.version = version_in_name(found.inner_name);
    all_.push_back(std::move(found));
  }

  void look_into(const std::string& folder, CudaLibrary::From from,
                 const std::string& package_version = "") {
    std::error_code error;
    size_t entries = 0;
    std::vector<std::string> names;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      if (++entries > kMostEntries) break;
      names.push_back(at->path().filename().string());
    }
    std::sort(names.begin(), names.end());
    for (const char* family : kFamilies)
      for (const std::string& name : names)
        if (name.starts_with(fmt::format("lib{}.so.", family)))
          add(family, folder + "/" + name, from, package_version);
  }

  std::vector<CudaLibrary> all() && { return std::move(all_); }

 private:
  std::set<std::string> seen_;
  std::vector<CudaLibrary> all_;
};

// The version of the package that brings a folder of nvidia/: "nvidia-cudnn-cu12".
std::string version_of_package(const PythonFacts& python, std::string family) {
  if (family.starts_with("cu1")) return "";  // many packages share nvidia/cu13
  std::replace(family.begin(), family.end(), '_', '-');
  for (const auto& [name, version] : python.packages)
    if (name == "nvidia-" + family || name.starts_with("nvidia-" + family + "-cu")) return version;
  return "";
}

void look_into_wheels(const PythonFacts& python, Search& search) {
  for (const std::string& folder : python.folders) {
    std::error_code error;
    for (fs::directory_iterator at(folder + "/nvidia", error), end; !error && at != end;
         at.increment(error))
      search.look_into(at->path().string() + "/lib", CudaLibrary::From::kWheel,
                       version_of_package(python, at->path().filename().string()));
  }
}

}  // namespace

std::string version_in_name(const std::string& file) {
  const size_t at = file.find(".so.");
  if (at == std::string::npos) return "";
  const std::string version = file.substr(at + 4);
  const bool number = version.find_first_not_of("0123456789.") == std::string::npos;
  return number ? version : "";
}

std::vector<CudaLibrary> find_cuda_libraries(const PythonFacts& python) {
  Search search;
  for (const std::string& folder : library_path())
    search.look_into(folder, CudaLibrary::From::kPath);
  look_into_wheels(python, search);
  if (const char* conda = std::getenv("CONDA_PREFIX"))
    search.look_into(std::string(conda) + "/lib", CudaLibrary::From::kConda);
  for (const char* family : kFamilies)
    for (const LoadedLibrary& each : cached_libraries(fmt::format("lib{}.so.", family)))
      search.add(family, each.path, CudaLibrary::From::kSystem);
  return std::move(search).all();
}

}  // namespace headway
