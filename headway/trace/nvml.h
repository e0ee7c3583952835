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

// NVIDIA's management library, loaded at run time; without it no GPUs are reported.
class Nvml {
 public:
  Nvml();
  ~Nvml();

  bool there() const { return impl_ != nullptr; }
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
};

}  // namespace headway
