#include "headway/train/device/device.h"

#include <ATen/Context.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "headway/core/buffer_pool.h"
#include "headway/core/error.h"
#include "headway/core/limits.h"
#include "headway/trace/nvml.h"

namespace headway {
namespace {

// CUDA's own functions, found in the library that libtorch has loaded.
template <typename F>
F* cuda_function(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_DEFAULT, name));
}

void* allocate_page_locked(size_t size_bytes) {
  static auto* const allocate = cuda_function<int(void**, size_t, unsigned)>("cudaHostAlloc");
  void* data = nullptr;
  return allocate(&data, size_bytes, 0) == 0 ? data : nullptr;
}

void release_page_locked(void* data) {
  static auto* const release = cuda_function<int(void*)>("cudaFreeHost");
  release(data);
}

bool built_with_cuda() { return c10::impl::hasDeviceGuardImpl(c10::DeviceType::CUDA); }

int64_t gpu_count() {
  if (!built_with_cuda()) return 0;
  return c10::impl::VirtualGuardImpl(c10::DeviceType::CUDA).deviceCount();
}

int parse_index(const std::string& device) {
  int index = 0;
  if (device == "cuda") return 0;
  const char* first = device.data() + std::strlen("cuda:");
  const auto [end, error] = std::from_chars(first, device.data() + device.size(), index);
  if (error != std::errc() || end != device.data() + device.size() || index < 0) {
    throw Error(fmt::format("'{}' is not a device", device),
                "use 'cpu', 'cuda', 'cuda:<number>' or 'auto'");
  }
  return index;
}

}  // namespace

std::string why_no_gpu() {
  if (gpu_count() > 0) return "";
  const bool driver = dlopen("libcuda.so.1", RTLD_NOW) != nullptr;
  if (!built_with_cuda()) {
    return driver ? "this libtorch was built without CUDA"
                  : "this libtorch was built without CUDA, and no NVIDIA driver is installed";
  }
  if (!driver) return "no NVIDIA driver is installed";
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible)
    return fmt::format("CUDA_VISIBLE_DEVICES is '{}', which leaves no GPU visible", visible);
  return "the NVIDIA driver finds no GPU, or is too old for the CUDA of this libtorch";
}

std::string choose_device(const std::string& wanted) {
  if (wanted == "cpu") return "cpu";
  if (wanted == "auto") return gpu_count() > 0 ? "cuda:0" : "cpu";
  if (wanted != "cuda" && !wanted.starts_with("cuda:")) {
    throw Error(fmt::format("'{}' is not a device", wanted),
                "use 'cpu', 'cuda', 'cuda:<number>' or 'auto'");
  }
  const int index = parse_index(wanted);
  const std::string reason = why_no_gpu();
  if (!reason.empty()) {
    throw Error(fmt::format("no GPU can be used: {}", reason),
                "use device 'cpu' or 'auto' to train without a GPU");
  }
  if (index >= gpu_count()) {
    throw Error(fmt::format("there is no GPU number {}: this machine has {}", index, gpu_count()),
                fmt::format("GPUs are numbered from 0: use 'cuda:0'{}",
                            gpu_count() > 1 ? fmt::format(" to 'cuda:{}'", gpu_count() - 1) : ""));
  }
  return fmt::format("cuda:{}", index);
}

void prepare_device(const std::string& device) {
  const bool possible = cuda_function<int(void**, size_t, unsigned)>("cudaHostAlloc") &&
                        cuda_function<int(void*)>("cudaFreeHost");
  set_large_memory(device != "cpu" && possible
                       ? LargeMemory{allocate_page_locked, release_page_locked}
                       : ordinary_memory());
}

std::string gpu_address(const std::string& device) {
  char address[32] = {};
  const auto find = cuda_function<int(char*, int, int)>("cudaDeviceGetPCIBusId");
  if (!device.starts_with("cuda") || !find) return "";
  return find(address, sizeof address, parse_index(device)) == 0 ? address : "";
}

int64_t free_memory_bytes(const std::string& device) {
  if (device == "cpu") return read_limits().memory_bytes;
  const auto gpu = Nvml().read_at(gpu_address(device));
  return gpu && gpu->memory_bytes > 0 ? gpu->memory_bytes - gpu->memory_used : INT64_MAX;
}

}  // namespace headway
