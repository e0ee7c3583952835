#pragma once

#include <sys/types.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "headway/probe/compiling.h"
#include "headway/probe/core_ledger.h"
#include "headway/probe/devices.h"
#include "headway/probe/native/native_eye.h"
#include "headway/probe/output/output_reader.h"
#include "headway/probe/output/variable_progress.h"
#include "headway/probe/process/target.h"
#include "headway/probe/random_factor.h"
#include "headway/probe/run_rates.h"
#include "headway/probe/stack_counts.h"
#include "headway/trace/trace.h"

namespace headway {

// Watches a process and all processes it starts, and keeps a Trace of what it saw. Never stops the
// target and uses only a small share of one core: it looks less often when a look costs more.
//
//   Watcher watcher(pid, {});
//   while (watcher.look()) sleep_until(watcher.next_look_s());
//   diagnose(watcher.trace());
//
// Not for several threads.
class Watcher {
 public:
  struct Options {
    bool launched = false;                      // we started it a moment ago
    const NativeTable* native_table = nullptr;  // what native code means; nullptr: the built-in one
  };
  Watcher(pid_t root, Options options);

  // Reads what is due, for at most half a second however much there is. False once the process is
  // gone: it has ended, or its pid belongs to another process.
  bool look();
  double now_s() const;
  double next_look_s() const { return std::min(next_stacks_s_, next_counters_s_); }

  // `headway run` passes on what the program wrote, and how it ended.
  void take_output(std::string_view bytes, bool errors) { output_.take(bytes, now_s(), errors); }
  void lose_output(int64_t bytes, bool errors) { output_.lose(bytes, now_s(), errors); }
  void ended(int wait_status);
  // We and the run were both stopped for so long in all: that time does not count.
  void leave_out(int64_t stopped_ns) { left_out_ns_ = stopped_ns; }

  Trace trace() const;

 private:
  void read_limits_of(pid_t pid);
  void find_processes();
  bool root_is_there();
  void note_gone(const Target& target, TaskState state);
  void find_roles(const std::vector<pid_t>& tree);
  void note_rank(Target& target, const SeenStack& stack);
  void forget_if_much();
  bool is_late() const;
  void read_stacks();
  void read_prints();
  std::optional<Account> count_stacks(Target& target, Role role);
  bool trains_unseen(const SeenStack& stack) const;
  void note_training_thread(const PythonThread& thread, const SeenStack& stack);
  void read_counters();
  void read_variables();
  void read_other_variables();
  void read_ledger(CoreLedger::Used used);
  CoreLedger::Stage stage() const;
  SeenProgress progress() const;
  void look_around_all();
  Target* main_target() const;

  const pid_t root_;
  const Options options_;
  const int64_t began_ns_;
  const uint64_t root_started_ticks_;
  int64_t stop_ns_ = 0;  // when this look must be over
  int64_t left_out_ns_ = 0;
  std::map<pid_t, std::unique_ptr<Target>> targets_;
  pid_t main_ = 0;
  std::vector<SeenProcess> gone_;
  std::set<pid_t> zombies_;  // already noted
  StackCounts stacks_;
  OutputReader output_;
  VariableProgress variables_;
  Account last_account_ = Account::kUnknown;  // of the training thread
  CoreLedger ledger_;
  Compiling compiling_;
  Devices devices_;
  NativeEye native_{options_.native_table ? *options_.native_table : NativeTable::built_in()};
  RandomFactor pause_;
  VariableProgress::Loops loops_;
  bool keras_fits_ = false, lightning_fits_ = false;
  std::unique_ptr<SystemReader> system_;
  pid_t system_of_ = 0;
  double next_system_s_ = 0;
  Outside seen_;
  std::vector<SeenValue> other_values_;
  bool reads_others_ = false;
  RunFacts run_;
  std::vector<TraceReading> samples_;
  double next_stacks_s_ = 0, next_counters_s_ = 0, next_around_s_ = 1;
  double counters_share_ = 0;  // share of a core that reading counters takes
  double moved_s_ = 0;         // when output, a step or reading last changed
  RunRates rates_;
  int64_t last_bytes_ = 0, last_steps_ = 0;
  ProgressSource counted_by_ = ProgressSource::kNone;
  int64_t counted_ = 0, steps_before_ = 0;  // counted by the present source; by earlier ones
  double tree_cpu_s_ = 0;
  size_t next_worker_ = 0;
};

}  // namespace headway
