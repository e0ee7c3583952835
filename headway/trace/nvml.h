#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "headway/trace/outside.h"

namespace headway {

// The mean over two periods of time.
GpuWork mean_of(const GpuWork& a, const GpuWork& b);

// Whether NVIDIA's management library answers, and if not, why.
enum class NvmlState : uint8_t {
  kAnswers,
  kNoLibrary,        // libnvidia-ml.so.1 is not installed
  kNoDriver,         // the kernel module is not loaded
  kVersionMismatch,  // the library is of another driver than the kernel module that is loaded
  kNoPermission,
  kFails,  // for another reason: error()
};

// A GPU as it is built, whoever uses it.
struct InstalledGpu {
  std::string name{}, uuid{};  // "NVIDIA H200", "GPU-1f2e..."
  int64_t memory_bytes = 0, memory_used = 0;
  int capability = 0;    // compute capability 9.0 is 90; 0: not known
  bool divided = false;  // into MIG instances, which programs see in its place
};

// NVIDIA's management library, loaded at run time; without it no GPUs are reported.
class Nvml {
 public:
  Nvml();
  ~Nvml();

  bool there() const { return impl_ != nullptr; }
  NvmlState state() const { return state_; }
  int error() const { return error_; }  // NVML's own number
  std::string driver_version() const;   // "550.54.15"; empty: not known
  int cuda_version() const;             // the newest that the driver supports: 12040; 0: not known
  std::vector<InstalledGpu> installed() const;
  // One entry per GPU; `pids`: the watched processes.
  std::vector<SeenGpu> read(const std::set<int64_t>& pids) const;
  // Of the GPU at this index in `read`: the share of about the last second in which it was busy.
  std::optional<double> utilisation(size_t gpu) const;
  // ... how much of its memory is in use, by any process.
  std::optional<int64_t> memory_used(size_t gpu) const;
  // ... what its units did since the last call. Nothing on the first call, too soon after the last
  // one, or if the driver does not measure it (GPUs before Hopper).
  std::optional<GpuWork> work(size_t gpu);
  // The GPU with this PCI address ("0000:19:00.0").
  std::optional<SeenGpu> read_at(const std::string& pci_address) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  NvmlState state_ = NvmlState::kNoLibrary;
  int error_ = 0;
};

}  // namespace headway
