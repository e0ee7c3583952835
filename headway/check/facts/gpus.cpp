#include "headway/check/facts/gpus.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "headway/probe/process/proc_files.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar ..." or "... Open Kernel
// Module for x86_64  550.54.15 ..."
std::string module_version(const std::string& root) {
  const std::string text = file_text(root + "/proc/driver/nvidia/version");
  for (size_t at = text.find("  "); at != std::string::npos; at = text.find("  ", at + 1)) {
    const size_t begin = text.find_first_not_of(' ', at);
    if (begin == std::string::npos) break;
    const size_t end = text.find_first_not_of("0123456789.", begin);
    if (end != begin && end != std::string::npos && text.find('.', begin) < end)
      return text.substr(begin, end - begin);
  }
  return "";
}

// Display controllers (class 0x03....) of vendor 0x10de.
int64_t gpus_on_bus(const std::string& root) {
  int64_t count = 0;
  std::error_code error;
  for (fs::directory_iterator at(root + "/sys/bus/pci/devices", error), end; !error && at != end;
       at.increment(error)) {
    const std::string device = at->path().string();
    count += file_text(device + "/vendor", 16).starts_with("0x10de") &&
             file_text(device + "/class", 16).starts_with("0x03");
  }
  return count;
}

bool has_device_files(const std::string& root) {
  std::error_code error;
  for (fs::directory_iterator at(root + "/dev", error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with("nvidia") && name.size() > 6 && name[6] >= '0' && name[6] <= '9')
      return true;
  }
  return false;
}

// Frameworks load it as this does; its absence is common in containers.
bool has_cuda_library() {
  void* library = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library) ::dlclose(library);
  return library != nullptr;
}

}  // namespace

GpuFacts read_gpus(const std::string& root) {
  const Nvml nvml;
  GpuFacts out{.nvml = nvml.state(), .nvml_error = nvml.error()};
  out.driver = nvml.driver_version(), out.cuda = nvml.cuda_version();
  out.gpus = nvml.installed();
  out.cuda_library = !out.gpus.empty() && has_cuda_library();
  out.kernel_module = module_version(root);
  out.on_bus = gpus_on_bus(root), out.device_files = has_device_files(root);
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) out.visible = visible;
  return out;
}

}  // namespace headway
