#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "headway/trace/outside.h"

namespace headway {

// Of two stretches of time together.
GpuWork mean_of(const GpuWork& a, const GpuWork& b);

// NVIDIA's management library, found at run time; without it there are no GPUs to report.
class Nvml {
 public:
  Nvml();
  ~Nvml();

  bool there() const { return impl_ != nullptr; }
  // One reading per GPU; `pids` are the processes under watch.
  std::vector<SeenGpu> read(const std::set<int64_t>& pids) const;
  // Of the GPU with this place in `read`: the share of about the last second in which it was busy.
  std::optional<double> utilisation(size_t gpu) const;
  // ... its memory that is in use, by whomever.
  std::optional<int64_t> memory_used(size_t gpu) const;
  // ... what its units did since this was last asked. Nothing the first time, too soon after the
  // last one, and where the driver does not measure it (GPUs before Hopper).
  std::optional<GpuWork> work(size_t gpu);
  // The one with this PCI address ("0000:19:00.0").
  std::optional<SeenGpu> read_at(const std::string& pci_address) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace headway
