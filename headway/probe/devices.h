#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "headway/probe/ledger_counts.h"
#include "headway/trace/nvml.h"
#include "headway/trace/trace.h"

namespace headway {

// The GPUs of the machine as the driver shows them, and whether that of the run is busy.
class Devices {
 public:
  // All about them, seldom. `pids`: the run's; `open`: the main process has one open.
  void look_around(const std::set<int64_t>& pids, bool open);
  // How busy those of the run are, often. Their means begin anew with each stage.
  enum class Stage { kBefore, kTraining, kStepping };
  void look(Stage stage, double now_s);
  // While the training thread does this; kNone when the run uses no GPU.
  DeviceState state(Account account) const;
  const std::vector<SeenGpu>& seen() const { return seen_; }
  bool used() const;  // does the run use one?
  // Of those of the run together, since the watch began; all 0 while it uses none.
  const GpuReading& counters() const { return counters_; }

 private:
  Nvml nvml_;
  std::vector<SeenGpu> seen_;
  int64_t samples_ = 0;
  Stage stage_ = Stage::kBefore;
  GpuReading counters_{};
  double looked_s_ = 0;
  double utilisation_ = -1;  // of the busiest that the run uses; -1: it uses none
};

}  // namespace headway
