#pragma once

#include <sys/types.h>

#include <set>

#include "headway/probe/ledger_counts.h"
#include "headway/probe/neighbours.h"

namespace headway {

// The ledger of a run as the watcher keeps it: looks at the training thread, combined with what the
// kernel says about the cores. Not for several threads.
class CoreLedger {
 public:
  // How far the run is.
  struct Stage {
    double now_s = 0;
    bool trains = false;   // training has begun
    int64_t steps = 0;     // since the watch began
    bool stepped = false;  // the first step was seen
  };
  // What its processes used. Counters may start at any moment, except `main`.
  struct Used {
    pid_t main = 0;
    double cpu_s = 0;  // of the tree, those that ended too
    double ready_s = 0, main_cpu_s = 0, main_ready_s = 0, model_s = 0;  // since the last call
    double throttled_s = 0;
  };

  void look(const Stage& stage, Account account, DeviceState device);
  void read(const Stage& stage, const Used& used, const Neighbours::Own& own);
  void put_into(Outside& out) const;

 private:
  void mark(const Stage& stage);

  LedgerCounts counts_;
  LedgerCounts::Clocks clocks_;
  Neighbours neighbours_;
  Stage stage_{};
  std::set<int> cores_;     // cores that the main process may use
  CoreTimes last_cores_{};  // times of those cores
  double last_cpu_s_ = -1, last_own_s_ = 0, last_throttled_s_ = 0;
  double busy_ = 0;  // recently, the share of those cores that was in use
};

}  // namespace headway
