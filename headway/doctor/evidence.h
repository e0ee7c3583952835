#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headway/core/text.h"
#include "headway/trace/trace.h"

namespace headway {

// With less than this nothing can be said about speed: the rules find nothing.
inline constexpr int64_t kMinSteps = 20;
inline constexpr double kMinSeconds = 1;
// A run is called stuck when nothing new came for this long, or for 20 steps if that is longer.
inline constexpr double kStuckS = 10;
inline constexpr double kStuckSteps = 20;
// A process that uses a smaller share of a core than this does nothing.
inline constexpr double kStillCores = 0.05;

// What the feed must do for one step, from the measured cost of its operators.
struct FeedDemand {
  double work_s = 0;     // of all workers together
  double threads = 1;    // threads that may share this work
  double serial_s = 0;   // the largest part that only one worker at a time may do ...
  size_t serial_at = 0;  // ... and the stage that pulls it
  double op_s = 0;       // the most expensive operator
  std::string op{};      // ... its name, what it is, and the stage it is in
  OpFacts op_facts{};
  std::optional<size_t> op_at{};
  std::string op_stage{};
  double dropped_share = 0;

  double shared_s() const { return work_s / threads; }
};

// A trace made ready for the rules: the steady part (warm-up left out) and what follows from it.
// Refers to the trace.
class Evidence {
 public:
  explicit Evidence(const Trace& trace);

  const Trace& trace;
  const RunFacts& run;
  const TraceReading first;  // of the steady part
  const TraceReading last;   // of all
  const double seconds;
  const int64_t steps;

  bool steady() const { return steps >= kMinSteps && seconds >= kMinSeconds; }
  bool started() const { return last.steps > 0; }
  bool running() const { return !trace.ended(); }

  // In the steady part:
  double spent_s(StepPhase phase) const { return last.times[phase] - first.times[phase]; }
  double total_s() const { return last.times.total() - first.times.total(); }
  double share(StepPhase phase) const { return total_s() > 0 ? spent_s(phase) / total_s() : 0; }
  // Per step; validation and checkpoints are not part of a step.
  double step_s() const;
  double own_s() const;  // the step without waiting for data
  double waiting_share() const { return step_s() > 0 ? 1 - own_s() / step_s() : 0; }
  double cores_used() const;
  double cpus() const { return run.cpus > 0 ? run.cpus : 1; }
  // Cores that the run uses, and cores that are idle. What neighbours use is not available, but at
  // least one core always counts as available.
  double cores_to_be_had() const;
  bool cores_full() const;  // all available cores are in use
  bool cores_idle() const;  // some available cores are idle: there is room for more
  double cpu_per_step_s() const;
  std::optional<double> gpu_busy() const;  // share of the time; where the driver tells
  double io_stalled_share() const;
  double read_bytes_per_element() const;
  double disk_bytes_per_s() const;
  FeedDemand feed() const;
  // Step time when nothing else uses the cores: from the replay if there was one.
  double own_alone_s() const { return trace.replay.step_s > 0 ? trace.replay.step_s : own_s(); }
  // CPU time of training alone, per step.
  double own_cpu_s() const;
  // Step time once the feed takes `feed_s` and all threads together `cpu_s` per step.
  double predicted_step_s(double feed_s, double cpu_s) const;

  // For how long nothing new came, at the end of the trace; 0 once the run has ended.
  double quiet_s() const { return quiet_s_; }
  bool stuck() const { return quiet_s_ > 0 && quiet_s_ >= stuck_after_s_; }
  bool feed_moves() const { return feed_moves_; }        // during that time
  double quiet_cores() const { return quiet_cores_; }    // cores used during that time
  std::optional<std::string> note(NoteKind kind) const;  // the last note of this kind

 private:
  void look_at_the_end();

  double quiet_s_ = 0, stuck_after_s_ = kStuckS, quiet_cores_ = 0;
  bool feed_moves_ = false;
};

// A part of a run: means over several steps.
struct Stretch {
  double step = 0;      // the step in the middle of it
  double steps = 0;     // how many steps it has
  double own_s = 0;     // per step
  double cpu_s = 0;     // per step, all threads
  double queued_s = 0;  // per step: threads were ready, but no core was free
  double loss = 0;
  double loss_deviation = 0;
  double losses = 0;
  double rss_bytes = 0;  // at the end, without what the pipeline holds
  double at_s = 0;
};
// The whole run as at most `count` stretches of about equally many steps. Unless `warm_up` is set,
// the first step is left out.
std::vector<Stretch> stretches(const Trace& trace, int64_t count, bool warm_up);

// y = at + slope * x by least squares; `noise` is the standard error of the slope.
struct Line {
  double at = 0, slope = 0, noise = 0, r2 = 0;
};
Line fit_line(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace headway
