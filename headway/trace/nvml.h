#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "headway/trace/outside.h"

namespace headway {

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
  // The one with this PCI address ("0000:19:00.0").
  std::optional<SeenGpu> read_at(const std::string& pci_address) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace headway
