#pragma once

#include <cstdint>
#include <vector>

#include "headway/trace/outside.h"

namespace headway {

// Counts how the training thread spends its time, in blocks of a second; a long watch has longer
// blocks, never more than 240. Looks say what the thread does, readings of the kernel's counters
// who had the cores. A block ends where counters were read, so that its seconds are exact; where it
// must end elsewhere (training begins, first step) they are divided in proportion.
//
//   ledger.look(Account::kComputes, DeviceState::kNone);
//   ledger.read(now_s, clocks, steps);
//   ledger.cut(now_s, steps, true);  // training begins
class LedgerCounts {
 public:
  // Seconds since some moment; only their growth matters.
  struct Clocks {
    double cpu_s = 0, ready_s = 0;            // of the run
    double main_cpu_s = 0, main_ready_s = 0;  // of the training thread
    double model_s = 0;                       // of threads that run operators
    double throttled_s = 0, idle_s = 0;
    double neighbours_s = 0;  // a difference of counters that tick separately: may briefly fall
  };

  // The time between two looks is divided equally between them: expensive looks are taken less
  // often, and would otherwise count too little. `at_s` < 0: all looks count the same.
  void look(Account account, DeviceState device, double at_s = -1);
  // The counters now, and the steps since the watch began.
  void read(double now_s, const Clocks& clocks, int64_t steps);
  // What follows belongs to new blocks.
  void cut(double now_s, int64_t steps, bool training);

  // Up to the last reading, oldest first.
  std::vector<LedgerBlock> blocks() const;

 private:
  struct Block {
    LedgerBlock seen{};
    int64_t stage = 0;  // blocks of different stages are not merged
  };
  void end_part(double now_s, int64_t steps);
  void keep(Block part);
  void merge_pairs();

  std::vector<Block> blocks_;
  std::vector<Block> parts_;  // since the last reading
  Block part_{};              // the one that is still open
  Clocks last_{};
  LedgerEntry looked_{};  // the last look
  double looked_s_ = -1;
  bool has_read_ = false;
  double block_s_ = 1;
  int64_t stage_ = 0, last_steps_ = 0;
};

// Is the device busy while the thread does this? `utilisation`: the share of about the last second
// in which the device ran anything.
DeviceState device_state(double utilisation, Account account);

}  // namespace headway
