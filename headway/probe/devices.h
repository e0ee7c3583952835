#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "headway/probe/ledger_counts.h"
#include "headway/trace/nvml.h"

namespace headway {

// The GPUs of the machine as the driver shows them, and whether that of the run is busy.
class Devices {
 public:
  // All about them, seldom. `pids`: the run's; `open`: the main process has one open.
  void look_around(const std::set<int64_t>& pids, bool open);
  // How busy those of the run are, often. Their mean begins anew with the training.
  void look(bool training);
  // While the training thread does this; kNone when the run uses no GPU.
  DeviceState state(Account account) const;
  const std::vector<SeenGpu>& seen() const { return seen_; }

 private:
  Nvml nvml_;
  std::vector<SeenGpu> seen_;
  int64_t samples_ = 0;
  bool training_ = false;
  double utilisation_ = -1;  // of the busiest that the run uses; -1: it uses none
};

}  // namespace headway
