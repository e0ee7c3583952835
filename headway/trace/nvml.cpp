#include "headway/trace/nvml.h"

#include <dlfcn.h>

#include <cmath>
#include <map>

#include "headway/core/clock.h"

namespace headway {
namespace {

// The part of NVML's interface that is used, as in its documentation.
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
constexpr int kErrorPermission = 4, kErrorDriver = 9, kErrorMismatch = 18, kErrorUnknown = 999;
constexpr size_t kLongestText = 96;
constexpr int kCores = 1;  // index of this clock
constexpr unsigned kMostProcesses = 256;
// Hardware, heat (twice) and power brake; a software power cap is normal for cards at full load.
constexpr unsigned long long kSlowedDown = 0x8 | 0x20 | 0x40 | 0x80;

// Two samples of a GPU's own counters give the means between them.
using GpmSample = void*;
struct GpmMetric {
  unsigned id;
  int status;
  double value;
  const char *short_name, *long_name, *unit;
};
constexpr size_t kMostMetrics = 512;  // more than any version of the library has
struct GpmMetrics {
  unsigned version, count;
  GpmSample before, now;
  GpmMetric metrics[kMostMetrics];
};
struct GpmSupport {
  unsigned version, supported;
};
struct Metered {
  unsigned id;
  double GpuWork::*field;
  double unit;  // of one counted value
};
constexpr double kPercent = 0.01, kMebibyte = 1 << 20;
constexpr Metered kMetered[] = {
    {1, &GpuWork::busy, kPercent},
    {2, &GpuWork::sms, kPercent},
    {3, &GpuWork::warps, kPercent},
    {5, &GpuWork::tensor, kPercent},
    {10, &GpuWork::memory_traffic, kPercent},
    {11, &GpuWork::fp64, kPercent},
    {12, &GpuWork::fp32, kPercent},
    {20, &GpuWork::sent_bps, kMebibyte},
    {21, &GpuWork::received_bps, kMebibyte},
};
constexpr double kSoonestS = 0.2;  // seconds; the driver needs at least 0.1 s between two

NvmlState state_of(int error) {
  switch (error) {
    case kOk: return NvmlState::kAnswers;
    case kErrorPermission: return NvmlState::kNoPermission;
    case kErrorDriver: return NvmlState::kNoDriver;
    case kErrorMismatch: return NvmlState::kVersionMismatch;
    default: return NvmlState::kFails;
  }
}

}  // namespace

GpuWork mean_of(const GpuWork& a, const GpuWork& b) {
  GpuWork out{.seconds = a.seconds + b.seconds};
  const double part = out.seconds > 0 ? b.seconds / out.seconds : 0;
  for (const Metered& each : kMetered)
    out.*each.field = (1 - part) * a.*each.field + part * b.*each.field;
  return out;
}

struct Nvml::Impl {
  void* library = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned, Device*) = nullptr;
  int (*handle_at)(const char*, Device*) = nullptr;
  int (*name)(Device, char*, unsigned) = nullptr;
  int (*uuid)(Device, char*, unsigned) = nullptr;
  int (*capability)(Device, int*, int*) = nullptr;
  int (*mig_mode)(Device, unsigned*, unsigned*) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*cuda_version)(int*) = nullptr;
  int (*utilisation)(Device, Utilisation*) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;
  int (*processes)(Device, unsigned*, ProcessInfo*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;
  int (*power_limit)(Device, unsigned*) = nullptr;
  int (*throttle)(Device, unsigned long long*) = nullptr;
  int (*clock)(Device, int, unsigned*) = nullptr;
  int (*full_clock)(Device, int, unsigned*) = nullptr;
  int (*gpm_support)(Device, GpmSupport*) = nullptr;
  int (*gpm_alloc)(GpmSample*) = nullptr;
  int (*gpm_free)(GpmSample) = nullptr;
  int (*gpm_sample)(Device, GpmSample) = nullptr;
  int (*gpm_metrics)(GpmMetrics*) = nullptr;
  struct Meter {
    GpmSample before = nullptr, now = nullptr;  // nullptr: not available
    int64_t at_ns = 0;                          // of `before`; 0: none yet
  };
  std::map<size_t, Meter> meters{};

  template <typename F>
  void find(F& function, const char* symbol) {
    function = reinterpret_cast<F>(dlsym(library, symbol));
  }

  SeenGpu read(Device device, const std::set<int64_t>& pids) const;
  Meter& meter_of(size_t gpu, Device device);
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
    impl_->find(impl_->uuid, "nvmlDeviceGetUUID");
    impl_->find(impl_->capability, "nvmlDeviceGetCudaComputeCapability");
    impl_->find(impl_->mig_mode, "nvmlDeviceGetMigMode");
    impl_->find(impl_->driver_version, "nvmlSystemGetDriverVersion");
    impl_->find(impl_->cuda_version, "nvmlSystemGetCudaDriverVersion_v2");
    impl_->find(impl_->utilisation, "nvmlDeviceGetUtilizationRates");
    impl_->find(impl_->memory, "nvmlDeviceGetMemoryInfo");
    impl_->find(impl_->processes, "nvmlDeviceGetComputeRunningProcesses_v3");
    impl_->find(impl_->power, "nvmlDeviceGetPowerUsage");
    impl_->find(impl_->power_limit, "nvmlDeviceGetEnforcedPowerLimit");
    impl_->find(impl_->throttle, "nvmlDeviceGetCurrentClocksThrottleReasons");
    impl_->find(impl_->clock, "nvmlDeviceGetClockInfo");
    impl_->find(impl_->full_clock, "nvmlDeviceGetMaxClockInfo");
    impl_->find(impl_->gpm_support, "nvmlGpmQueryDeviceSupport");
    impl_->find(impl_->gpm_alloc, "nvmlGpmSampleAlloc");
    impl_->find(impl_->gpm_free, "nvmlGpmSampleFree");
    impl_->find(impl_->gpm_sample, "nvmlGpmSampleGet");
    impl_->find(impl_->gpm_metrics, "nvmlGpmMetricsGet");
  }
  if (impl_->library) {
    const bool whole = impl_->init && impl_->count && impl_->handle;
    error_ = whole ? impl_->init() : kErrorUnknown;
    state_ = state_of(error_);
  }
  if (state_ == NvmlState::kAnswers) return;
  if (impl_->library) dlclose(impl_->library);
  impl_.reset();
}

Nvml::~Nvml() {
  if (!impl_) return;
  for (auto& [gpu, meter] : impl_->meters)
    for (GpmSample sample : {meter.before, meter.now})
      if (sample) impl_->gpm_free(sample);
  if (impl_->shutdown) impl_->shutdown();
  dlclose(impl_->library);
}

SeenGpu Nvml::Impl::read(Device device, const std::set<int64_t>& pids) const {
  SeenGpu gpu;
  char text[kLongestText] = {};
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

std::vector<InstalledGpu> Nvml::installed() const {
  std::vector<InstalledGpu> out;
  unsigned count = 0;
  if (!impl_ || impl_->count(&count) != kOk) return out;
  for (unsigned i = 0; i < count; ++i) {
    Device device = nullptr;
    if (impl_->handle(i, &device) != kOk) continue;
    const SeenGpu seen = impl_->read(device, {});
    InstalledGpu gpu{
        .name = seen.name, .memory_bytes = seen.memory_bytes, .memory_used = seen.memory_used};
    char text[kLongestText] = {};
    if (impl_->uuid && impl_->uuid(device, text, sizeof text) == kOk) gpu.uuid = text;
    int major = 0, minor = 0;
    if (impl_->capability && impl_->capability(device, &major, &minor) == kOk)
      gpu.capability = 10 * major + minor;
    unsigned now = 0, pending = 0;
    gpu.divided = impl_->mig_mode && impl_->mig_mode(device, &now, &pending) == kOk && now == 1;
    out.push_back(std::move(gpu));
  }
  return out;
}

std::string Nvml::driver_version() const {
  char text[kLongestText] = {};
  const bool known =
      impl_ && impl_->driver_version && impl_->driver_version(text, sizeof text) == kOk;
  return known ? text : "";
}

int Nvml::cuda_version() const {
  int version = 0;
  if (!impl_ || !impl_->cuda_version || impl_->cuda_version(&version) != kOk) return 0;
  return version;
}

std::optional<double> Nvml::utilisation(size_t gpu) const {
  Device device = nullptr;
  Utilisation use{};
  if (!impl_ || !impl_->utilisation || impl_->handle(static_cast<unsigned>(gpu), &device) != kOk ||
      impl_->utilisation(device, &use) != kOk)
    return std::nullopt;
  return use.gpu / 100.0;
}

std::optional<int64_t> Nvml::memory_used(size_t gpu) const {
  Device device = nullptr;
  Memory bytes{};
  if (!impl_ || !impl_->memory || impl_->handle(static_cast<unsigned>(gpu), &device) != kOk ||
      impl_->memory(device, &bytes) != kOk)
    return std::nullopt;
  return static_cast<int64_t>(bytes.total - bytes.free);
}

Nvml::Impl::Meter& Nvml::Impl::meter_of(size_t gpu, Device device) {
  const auto [found, is_new] = meters.try_emplace(gpu);
  Meter& meter = found->second;
  GpmSupport asked{.version = 1, .supported = 0};
  if (!is_new || !gpm_support || !gpm_alloc || !gpm_free || !gpm_sample || !gpm_metrics ||
      gpm_support(device, &asked) != kOk || asked.supported == 0 || gpm_alloc(&meter.before) != kOk)
    return meter;
  if (gpm_alloc(&meter.now) != kOk) meter.now = nullptr;
  return meter;
}

std::optional<GpuWork> Nvml::work(size_t gpu) {
  Device device = nullptr;
  if (!impl_ || impl_->handle(static_cast<unsigned>(gpu), &device) != kOk) return std::nullopt;
  Impl::Meter& meter = impl_->meter_of(gpu, device);
  const int64_t now_ns = headway::now_ns();
  const double seconds = double(now_ns - meter.at_ns) / 1e9;
  if (!meter.now || (meter.at_ns > 0 && seconds < kSoonestS) ||
      impl_->gpm_sample(device, meter.now) != kOk)
    return std::nullopt;
  std::optional<GpuWork> out;
  if (meter.at_ns > 0) {
    GpmMetrics asked{
        .version = 1, .count = 0, .before = meter.before, .now = meter.now, .metrics = {}};
    for (const Metered& each : kMetered) asked.metrics[asked.count++].id = each.id;
    if (impl_->gpm_metrics(&asked) == kOk) {
      out.emplace().seconds = seconds;
      for (size_t i = 0; i < std::size(kMetered); ++i)
        if (asked.metrics[i].status == kOk && std::isfinite(asked.metrics[i].value))
          (*out).*kMetered[i].field = asked.metrics[i].value * kMetered[i].unit;
    }
  }
  std::swap(meter.before, meter.now);
  meter.at_ns = now_ns;
  return out;
}

std::optional<SeenGpu> Nvml::read_at(const std::string& pci_address) const {
  Device device = nullptr;
  if (!impl_ || !impl_->handle_at || impl_->handle_at(pci_address.c_str(), &device) != kOk)
    return std::nullopt;
  return impl_->read(device, {});
}

}  // namespace headway
