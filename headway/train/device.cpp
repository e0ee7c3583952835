#include "headway/train/device.h"

#include <ATen/Context.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "headway/core/buffer_pool.h"
#include "headway/core/error.h"
#include "headway/core/limits.h"

namespace headway {
namespace {

// Free memory by the driver's own library, so that no CUDA header is needed.
std::optional<int64_t> nvml_free_bytes(int index) {
  struct Memory {
    unsigned long long total, free, used;
  };
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (!library) return std::nullopt;
  const auto init = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
  const auto handle =
      reinterpret_cast<int (*)(unsigned, void**)>(dlsym(library, "nvmlDeviceGetHandleByIndex_v2"));
  const auto memory =
      reinterpret_cast<int (*)(void*, Memory*)>(dlsym(library, "nvmlDeviceGetMemoryInfo"));
  void* device = nullptr;
  Memory info{};
  if (!init || !handle || !memory || init() != 0) return std::nullopt;
  if (handle(static_cast<unsigned>(index), &device) != 0) return std::nullopt;
  if (memory(device, &info) != 0) return std::nullopt;
  return static_cast<int64_t>(info.free);
}

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
    throw Error(fmt::format("'{}' is not a device", device), "cpu, cuda, cuda:<number> or auto");
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
  if (visible) return fmt::format("CUDA_VISIBLE_DEVICES is '{}'", visible);
  return "the NVIDIA driver shows no GPU, or is older than this libtorch's CUDA";
}

std::string choose_device(const std::string& wanted) {
  if (wanted == "cpu") return "cpu";
  if (wanted == "auto") return gpu_count() > 0 ? "cuda:0" : "cpu";
  if (wanted != "cuda" && !wanted.starts_with("cuda:")) {
    throw Error(fmt::format("'{}' is not a device", wanted), "cpu, cuda, cuda:<number> or auto");
  }
  const int index = parse_index(wanted);
  const std::string reason = why_no_gpu();
  if (!reason.empty()) {
    throw Error(fmt::format("no GPU can be used: {}", reason), "device cpu or auto trains without");
  }
  if (index >= gpu_count()) {
    throw Error(fmt::format("there is no GPU {}: there are {}", index, gpu_count()),
                "count from 0");
  }
  return fmt::format("cuda:{}", index);
}

void prepare_device(const std::string& device) {
  if (device != "cpu") at::globalContext().setBenchmarkCuDNN(true);
  const bool possible = cuda_function<int(void**, size_t, unsigned)>("cudaHostAlloc") &&
                        cuda_function<int(void*)>("cudaFreeHost");
  set_large_memory(device != "cpu" && possible
                       ? LargeMemory{allocate_page_locked, release_page_locked}
                       : ordinary_memory());
}

int64_t free_memory_bytes(const std::string& device) {
  if (device == "cpu") return read_limits().memory_bytes;
  // NVML counts every GPU; with CUDA_VISIBLE_DEVICES the numbers may be others: do not guess.
  if (std::getenv("CUDA_VISIBLE_DEVICES")) return INT64_MAX;
  return nvml_free_bytes(parse_index(device)).value_or(INT64_MAX);
}

}  // namespace headway
