#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "headway/core/file_counters.h"
#include "headway/trace/cause.h"
#include "headway/trace/feed.h"
#include "headway/trace/kinds.h"
#include "headway/trace/numbers.h"
#include "headway/trace/outside.h"
#include "headway/trace/step_counters.h"
#include "headway/trace/system_reader.h"

namespace headway {

// What does not change during a run. Empty, 0 or -1: not known.
struct RunFacts {
  std::string program{};  // "headway-train"
  Eye eye = Eye::kInside;
  Purpose purpose = Purpose::kTrain;
  std::string device{"cpu"};
  std::string gpu{};         // of that device, or of one that exists but is not used
  double cpus = 0;           // cores that the process may use
  std::string cpu_source{};  // "cgroup quota 1.5 of 8 cores"
  bool cpu_quota = false;    // a quota limits them
  int64_t machine_cores = 0;
  int64_t compute_threads = 0;  // inside one operation of the tensor library
  int64_t input_threads = 0;    // as requested; 0: chosen while it runs
  ProductType products = ProductType::kUnknown;
  std::string dataset{};             // as text, one operator per line, source first ...
  std::vector<OpFacts> operators{};  // ... and the same operators
  std::string model{};
  int64_t parameters = 0;
  std::string optimizer{};
  int64_t batch_size = 0;
  int64_t steps_per_epoch = -1;
  int64_t epochs = 0;
  bool resumed = false;
  std::vector<std::string> callbacks{};

  bool on_gpu() const { return device != "cpu"; }
};

// What the driver says about the GPU that trains.
struct GpuReading {
  double busy_s = 0;       // something ran on it
  double throttled_s = 0;  // its clock was lowered because of power or heat
  double clock_mhz = 0, full_clock_mhz = 0;
  int64_t memory_bytes = 0, memory_used = 0;
};

// All counts begin at the start of the run: the difference of two readings is what happened between
// them.
struct TraceReading {
  double at_s = 0;
  RunPhase phase = RunPhase::kNone;  // what the training thread is doing, and for how long
  double phase_s = 0;
  int64_t epoch = 0, step_in_epoch = 0, steps = 0, samples = 0;
  StepTimes times{};
  double loss_sum = 0, loss_square_sum = 0;  // of finite losses
  int64_t losses = 0, bad_losses = 0;        // finite; not finite
  int64_t first_bad_step = 0;
  double learning_rate = 0;
  std::vector<double> callback_s{};            // as RunFacts::callbacks
  int64_t batches = 0;                         // taken from the pipeline
  int64_t feed_threads = 0;                    // now
  int64_t skipped = 0;                         // bad samples
  int64_t feed_ram_bytes = 0;                  // held by the pipeline, now
  int64_t buffer_held = 0, buffer_wanted = 0;  // elements of a shuffle that fills before it yields
  std::vector<StageReading> stages{};          // as Trace::stages
  FileReading files{};
  SystemReading system{};
  GpuReading gpu{};  // all 0: no GPU, or it cannot be read
};

struct TracePhase {
  RunPhase name = RunPhase::kNone;
  double at_s = 0;
  double seconds = 0;
};

struct TraceEpoch {
  int64_t epoch = 0;
  double at_s = 0;
  int64_t steps = 0;  // of this epoch
  std::vector<std::pair<std::string, double>> logs{};
  std::vector<std::pair<std::string, double>> validation{};  // likewise, by validation
};

// What training could do with a pipeline that takes no time, and with twice the batch: measured by
// replaying one batch before the run.
struct ReplayReading {
  int64_t batch_size = 0;  // 0: not measured
  double step_s = 0;
  double double_step_s = 0;  // 0: twice the batch was not tried
};

// A message during the run: a warning, an error, who waits for what.
struct TraceNote {
  NoteKind kind = NoteKind::kOther;
  double at_s = 0;
  std::string text{};
  std::string where{};  // of a stall: the operator of the first worker that does not return ...
  int64_t stage = -1;   // ... and in which of Trace::stages; -1: none
  Cause cause = Cause::kUnknown;  // of an error that knows its cause
};

// What happened in a run, and when. Plain data: written by the inside eye (observe/trace_recorder)
// or the outside eye, stored in a file (trace_file.h), judged by the doctor.
struct Trace {
  RunFacts run{};
  std::vector<StageFacts> stages{};
  std::vector<WeightFacts> weights{};  // the trainable ones
  std::vector<std::string> layers{};
  ReplayReading replay{};
  std::vector<TracePhase> phases{};
  std::vector<TraceReading> samples{};    // oldest first
  std::vector<NumbersReading> numbers{};  // likewise
  std::vector<TraceEpoch> epochs{};
  std::vector<TraceNote> notes{};
  std::string ending{};  // "finished", "stopped: ...", "failed: ..."; empty: it was still running
  Outside outside{};     // what the outside eye saw

  bool ended() const { return !ending.empty(); }
  bool failed() const { return ending.starts_with("failed"); }
};

// Which elements of an endless series to keep: first all, then every 2nd, every 4th ..., so that at
// most `limit` are added at each density, and a file grows with the logarithm of the time.
class Thinning {
 public:
  explicit Thinning(int64_t limit) : limit_(limit) {}
  bool keeps_next() {
    if (seen_++ % stride_ != 0) return false;
    if (++kept_ == limit_) kept_ = limit_ / 2, stride_ *= 2;
    return true;
  }
  int64_t stride() const { return stride_; }

 private:
  int64_t limit_, seen_ = 0, kept_ = 0, stride_ = 1;
};

// Once there are `limit` elements, drops every second one, but never the last.
template <typename T>
void thin_out(std::vector<T>& series, size_t limit) {
  if (series.size() < limit) return;
  size_t kept = 0;
  for (size_t i = 0; i + 1 < series.size(); i += 2) series[kept++] = std::move(series[i]);
  series[kept++] = std::move(series.back());
  series.resize(kept);
}

}  // namespace headway
