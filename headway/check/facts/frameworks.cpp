#include "headway/check/facts/frameworks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "headway/check/facts/library.h"
#include "headway/check/facts/python.h"
#include "headway/core/error.h"
#include "headway/core/json.h"
#include "headway/core/regular_file.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLargestText = 4 << 20;
constexpr uint64_t kMostConstants = 32 << 20;  // of a library

// Empty: there is no such file, or it cannot be read.
std::string text_of_file(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return "";
  try {
    return read_regular(path, kLargestText);
  } catch (const Error&) {
    return "";
  }
}

std::string version_of(const PythonFacts& python, const std::string& package) {
  const auto found = python.packages.find(package);
  return found == python.packages.end() ? "" : found->second;
}

// The requirement "nvidia-cudnn-cu12==9.1.0.70" in a package's own description.
std::string pinned_cudnn(const PythonFacts& python, const std::string& package,
                         const std::string& version) {
  for (const std::string& folder : python.folders) {
    const std::string text =
        text_of_file(fmt::format("{}/{}-{}.dist-info/METADATA", folder, package, version));
    const size_t at = text.find("Requires-Dist: nvidia-cudnn-cu");
    if (at == std::string::npos) continue;
    const std::string line = text.substr(at, text.find('\n', at) - at);
    const size_t sign = line.find("==");
    if (sign == std::string::npos) return "";
    return line.substr(sign + 2, line.find_first_not_of("0123456789.", sign + 2) - sign - 2);
  }
  return "";
}

// "sm_70 sm_75 sm_80": the list among these constants; empty: none.
std::string kernel_list_among(const std::string& bytes, bool begins) {
  constexpr size_t kLongestList = 400;
  for (size_t at = bytes.find("sm_"); at != std::string::npos; at = bytes.find("sm_", at + 1)) {
    if (at == 0 ? !begins : bytes[at - 1] != '\0') continue;
    const std::string text = bytes.substr(at, kLongestList);
    const std::string list = text.substr(0, text.find('\0'));
    const bool plain = list.find_first_not_of("smcompute_0123456789af ") == std::string::npos;
    if (plain && list.find(' ') != std::string::npos) return list;
  }
  return "";
}

// The list of GPUs for which a library was built stands in its constants, as torch's
// get_arch_list() gives it.
std::string kernel_list_in(const std::string& library) {
  const auto image = open_library(library);
  if (!image) return "";
  for (const Elf64_Shdr& section : image->sections()) {
    if (section.sh_type != SHT_PROGBITS || section.sh_flags != SHF_ALLOC) continue;
    constexpr uint64_t kPiece = 1 << 20, kOverlap = 512;
    const uint64_t size = std::min<uint64_t>(section.sh_size, kMostConstants);
    for (uint64_t from = 0; from < size; from += kPiece - kOverlap) {
      const std::string bytes =
          image->part(section.sh_offset + from, std::min(kPiece, size - from));
      if (const std::string list = kernel_list_among(bytes, from == 0); !list.empty()) return list;
    }
  }
  return "";
}

void read_torch(const PythonFacts& python, InstalledFramework& out) {
  const std::string source = text_of_file(out.folder + "/version.py");
  if (source.empty()) return;
  const std::string version = value_in_source(source, "__version__");
  if (!version.empty()) out.version = version;
  out.cuda = value_in_source(source, "cuda");
  const bool other =
      !value_in_source(source, "hip").empty() || !value_in_source(source, "xpu").empty();
  out.build = !out.cuda.empty() ? FrameworkBuild::kCuda
              : other           ? FrameworkBuild::kOther
                                : FrameworkBuild::kCpu;
  if (out.build != FrameworkBuild::kCuda) return;
  out.cudnn = pinned_cudnn(python, "torch", version_of(python, "torch"));
  const std::string library = out.folder + "/lib/libtorch_python.so";
  read_kernels(kernel_list_in(library), out);
  for (const LoadedLibrary& each : libraries_of(library).libraries) {
    for (const char* family : {"libcudart.", "libcublas.", "libcudnn."}) {
      if (!each.name.starts_with(family)) continue;
      std::error_code error;
      const fs::path real = fs::canonical(each.path, error);
      out.libraries.push_back({each.name, error ? each.path : real.string()});
    }
  }
}

void read_tensorflow(const PythonFacts& python, InstalledFramework& out) {
  for (const char* package : {"tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tf-nightly",
                              "tf-nightly-cpu", "intel-tensorflow"}) {
    const std::string version = version_of(python, package);
    if (version.empty()) continue;
    if (out.version.empty()) out.version = version, out.package = package;
  }
  const std::string source = text_of_file(out.folder + "/python/platform/build_info.py");
  const size_t at = source.find("'is_cuda_build', ");
  if (at == std::string::npos) return;
  const bool cuda = source.compare(at + 17, 4, "True") == 0;
  const bool rocm = source.find("'is_rocm_build', True") != std::string::npos;
  out.build = cuda ? FrameworkBuild::kCuda : rocm ? FrameworkBuild::kOther : FrameworkBuild::kCpu;
  const auto quoted = [&](const std::string& key) {
    const size_t found = source.find("('" + key + "', '");
    if (found == std::string::npos) return std::string();
    const size_t begin = found + key.size() + 6;
    return source.substr(begin, source.find('\'', begin) - begin);
  };
  out.cuda = quoted("cuda_version"), out.cudnn = quoted("cudnn_version");
  const size_t list = source.find("'cuda_compute_capabilities', [");
  if (list != std::string::npos)
    read_kernels(source.substr(list + 29, source.find(']', list) - list - 29), out);
}

// CUDA is a plugin of its own: jax-cuda12-plugin; until 0.4.25 it was jaxlib's "+cuda12.cudnn89".
void read_jax(const PythonFacts& python, InstalledFramework& out) {
  const std::string jaxlib = version_of(python, "jaxlib");
  out.build = FrameworkBuild::kCpu;
  for (int major = 11; major < 20; ++major)
    if (!version_of(python, fmt::format("jax-cuda{}-plugin", major)).empty())
      out.build = FrameworkBuild::kCuda, out.cuda = std::to_string(major);
  if (!version_of(python, "jax-rocm60-plugin").empty() || !version_of(python, "libtpu").empty())
    out.build = FrameworkBuild::kOther;
  if (const size_t at = jaxlib.find("+cuda"); at != std::string::npos) {
    out.build = FrameworkBuild::kCuda;
    out.cuda = jaxlib.substr(at + 5, jaxlib.find_first_not_of("0123456789", at + 5) - at - 5);
  }
  if (out.build == FrameworkBuild::kCuda) out.cudnn = "9";
  if (out.cuda == "11") out.cudnn = "8";
}

void read_numpy(PythonFacts& python) {
  const std::string folder = find_module(python.folders, "numpy");
  std::error_code error;
  for (const char* core : {"/_core", "/core"})
    for (fs::directory_iterator at(folder + core, error), end; !error && at != end;
         at.increment(error)) {
      if (!at->path().filename().string().starts_with("_multiarray_umath.")) continue;
      if (at->path().extension() != ".so") continue;
      python.numpy = blas_among(libraries_of(at->path().string()).libraries,
                                "NumPy " + version_of(python, "numpy"));
      return;
    }
}

void read_keras_backend(PythonFacts& python) {
  const char* chosen = std::getenv("KERAS_BACKEND");
  if (chosen) {
    python.keras_backend = chosen;
    return;
  }
  const char* home = std::getenv("HOME");
  const std::string text = home ? text_of_file(std::string(home) + "/.keras/keras.json") : "";
  if (text.empty()) return;
  try {
    const nlohmann::json json = parse_json(text);
    python.keras_backend = JsonView(json).get<std::string>("backend", "");
  } catch (const Error&) {
    return;  // Keras itself says so
  }
}

struct KnownFramework {
  const char *name, *package, *module;
  void (*read)(const PythonFacts&, InstalledFramework&);  // nullptr: has no build of its own
};
constexpr KnownFramework kKnown[] = {
    {"PyTorch", "torch", "torch", read_torch},
    {"TensorFlow", "tensorflow", "tensorflow", read_tensorflow},
    {"JAX", "jax", "jax", read_jax},
    {"Keras", "keras", "keras", nullptr},
    {"Lightning", "lightning", "lightning", nullptr},
    {"PyTorch Lightning", "pytorch-lightning", "pytorch_lightning", nullptr},
    {"Transformers", "transformers", "transformers", nullptr},
};

}  // namespace

std::string value_in_source(const std::string& source, const std::string& name) {
  for (size_t at = 0; at < source.size();) {
    const size_t end = std::min(source.find('\n', at), source.size());
    const std::string line = source.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(name) || line.size() == name.size()) continue;
    const char after = line[name.size()];
    const size_t sign = line.find('=');
    if ((after != ' ' && after != ':' && after != '=') || sign == std::string::npos) continue;
    const size_t open = line.find_first_of("'\"", sign);
    if (open == std::string::npos) return "";
    return line.substr(open + 1, line.find(line[open], open + 1) - open - 1);
  }
  return "";
}

void read_kernels(const std::string& text, InstalledFramework& out) {
  for (size_t at = text.find('_'); at != std::string::npos; at = text.find('_', at + 1)) {
    const int number = std::atoi(text.c_str() + at + 1);
    if (number < 10) continue;
    const bool portable = text.substr(0, at).ends_with("compute");
    if (portable) out.ptx = std::max(out.ptx, number);
    else out.kernels.push_back(number);
  }
}

void read_frameworks(PythonFacts& python) {
  for (const KnownFramework& known : kKnown) {
    const std::string folder = find_module(python.folders, known.module);
    std::error_code error;
    if (folder.empty() || !fs::is_directory(folder, error)) continue;
    InstalledFramework found{.name = known.name, .package = known.package, .folder = folder};
    found.version = version_of(python, known.package);
    if (known.read) known.read(python, found);
    // A folder alone, as an uninstalled package may leave it, is none.
    if (!found.version.empty()) python.frameworks.push_back(std::move(found));
  }
  for (const char* package : {"tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tf-nightly"})
    if (!version_of(python, package).empty()) python.tensorflow_packages.push_back(package);
  read_numpy(python);
  read_keras_backend(python);
}

}  // namespace headway
