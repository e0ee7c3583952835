#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "headway/probe/ledger_counts.h"
#include "headway/trace/nvml.h"
#include "headway/trace/trace.h"

namespace headway {

// The GPUs of the machine as the driver shows them, and whether the run's GPU is busy.
class Devices {
 public:
  // Reads everything about them; call rarely. `pids`: the run's; `open`: the main process uses one.
  void look_around(const std::set<int64_t>& pids, bool open);
  // Reads how busy the run's GPUs are; call often. The means start again with each stage.
  enum class Stage { kBefore, kTraining, kStepping };
  void look(Stage stage, double now_s);
  // State of the device while the training thread does this; kNone when the run uses no GPU.
  DeviceState state(Account account) const;
  const std::vector<SeenGpu>& seen() const { return seen_; }
  bool used() const;  // does the run use one?
  // Summed over the run's GPUs since the watch began; all 0 while it uses none.
  const GpuReading& counters() const { return counters_; }

 private:
  Nvml nvml_;
  std::vector<SeenGpu> seen_;
  int64_t samples_ = 0;
  Stage stage_ = Stage::kBefore;
  GpuReading counters_{};
  double looked_s_ = 0;
  double utilisation_ = -1;  // of the busiest GPU that the run uses; -1: none
};

}  // namespace headway
