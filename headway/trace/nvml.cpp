#include "headway/trace/nvml.h"

#include <dlfcn.h>

namespace headway {
namespace {

// The part of NVML's interface that is used, as its documentation lays it out.
using Device = void*;
struct Utilisation {
  unsigned gpu, memory;
};
struct Memory {
  unsigned long long total, free, used;
};
struct ProcessInfo {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};
constexpr int kOk = 0;
constexpr int kCores = 1;  // among the clocks
constexpr unsigned kMostProcesses = 256;
// Hardware, heat (twice) and power brake; a software power cap is how many cards work at full load.
constexpr unsigned long long kSlowedDown = 0x8 | 0x20 | 0x40 | 0x80;

}  // namespace

struct Nvml::Impl {
  void* library = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned, Device*) = nullptr;
  int (*handle_at)(const char*, Device*) = nullptr;
  int (*name)(Device, char*, unsigned) = nullptr;
  int (*utilisation)(Device, Utilisation*) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;
  int (*processes)(Device, unsigned*, ProcessInfo*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;
  int (*power_limit)(Device, unsigned*) = nullptr;
  int (*throttle)(Device, unsigned long long*) = nullptr;
  int (*clock)(Device, int, unsigned*) = nullptr;
  int (*full_clock)(Device, int, unsigned*) = nullptr;

  template <typename F>
  void find(F& function, const char* symbol) {
    function = reinterpret_cast<F>(dlsym(library, symbol));
  }

  SeenGpu read(Device device, const std::set<int64_t>& pids) const;
};

Nvml::Nvml() : impl_(std::make_unique<Impl>()) {
  impl_->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (impl_->library) {
    impl_->find(impl_->init, "nvmlInit_v2");
    impl_->find(impl_->shutdown, "nvmlShutdown");
    impl_->find(impl_->count, "nvmlDeviceGetCount_v2");
    impl_->find(impl_->handle, "nvmlDeviceGetHandleByIndex_v2");
    impl_->find(impl_->handle_at, "nvmlDeviceGetHandleByPciBusId_v2");
    impl_->find(impl_->name, "nvmlDeviceGetName");
    impl_->find(impl_->utilisation, "nvmlDeviceGetUtilizationRates");
    impl_->find(impl_->memory, "nvmlDeviceGetMemoryInfo");
    impl_->find(impl_->processes, "nvmlDeviceGetComputeRunningProcesses_v3");
    impl_->find(impl_->power, "nvmlDeviceGetPowerUsage");
    impl_->find(impl_->power_limit, "nvmlDeviceGetEnforcedPowerLimit");
    impl_->find(impl_->throttle, "nvmlDeviceGetCurrentClocksThrottleReasons");
    impl_->find(impl_->clock, "nvmlDeviceGetClockInfo");
    impl_->find(impl_->full_clock, "nvmlDeviceGetMaxClockInfo");
  }
  if (!impl_->init || !impl_->count || !impl_->handle || impl_->init() != kOk) {
    if (impl_->library) dlclose(impl_->library);
    impl_.reset();
  }
}

Nvml::~Nvml() {
  if (!impl_) return;
  if (impl_->shutdown) impl_->shutdown();
  dlclose(impl_->library);
}

SeenGpu Nvml::Impl::read(Device device, const std::set<int64_t>& pids) const {
  SeenGpu gpu;
  char text[96] = {};
  if (name && name(device, text, sizeof text) == kOk) gpu.name = text;
  Utilisation use{};
  if (utilisation && utilisation(device, &use) == kOk) gpu.recent = use.gpu / 100.0;
  Memory bytes{};
  if (memory && memory(device, &bytes) == kOk) {
    gpu.memory_bytes = static_cast<int64_t>(bytes.total);
    gpu.memory_used = static_cast<int64_t>(bytes.total - bytes.free);
  }
  unsigned value = 0;
  if (power && power(device, &value) == kOk) gpu.power_w = value / 1e3;
  if (power_limit && power_limit(device, &value) == kOk) gpu.power_limit_w = value / 1e3;
  if (clock && clock(device, kCores, &value) == kOk) gpu.clock_mhz = value;
  if (full_clock && full_clock(device, kCores, &value) == kOk) gpu.full_clock_mhz = value;
  unsigned long long reasons = 0;
  if (throttle && throttle(device, &reasons) == kOk) gpu.throttled = (reasons & kSlowedDown) != 0;
  if (!processes || pids.empty()) return gpu;
  ProcessInfo running[kMostProcesses];
  unsigned found = kMostProcesses;
  if (processes(device, &found, running) != kOk) return gpu;
  for (unsigned k = 0; k < found; ++k) {
    if (!pids.count(running[k].pid)) continue;
    gpu.used = true;
    gpu.memory_own += static_cast<int64_t>(running[k].used);
  }
  return gpu;
}

std::vector<SeenGpu> Nvml::read(const std::set<int64_t>& pids) const {
  std::vector<SeenGpu> out;
  unsigned count = 0;
  if (!impl_ || impl_->count(&count) != kOk) return out;
  for (unsigned i = 0; i < count; ++i) {
    Device device = nullptr;
    if (impl_->handle(i, &device) == kOk) out.push_back(impl_->read(device, pids));
  }
  return out;
}

std::optional<double> Nvml::utilisation(size_t gpu) const {
  Device device = nullptr;
  Utilisation use{};
  if (!impl_ || !impl_->utilisation || impl_->handle(static_cast<unsigned>(gpu), &device) != kOk ||
      impl_->utilisation(device, &use) != kOk)
    return std::nullopt;
  return use.gpu / 100.0;
}

std::optional<SeenGpu> Nvml::read_at(const std::string& pci_address) const {
  Device device = nullptr;
  if (!impl_ || !impl_->handle_at || impl_->handle_at(pci_address.c_str(), &device) != kOk)
    return std::nullopt;
  return impl_->read(device, {});
}

}  // namespace headway
