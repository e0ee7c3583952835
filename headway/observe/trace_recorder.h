#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "headway/core/sync.h"
#include "headway/observe/feed_watch.h"
#include "headway/trace/nvml.h"
#include "headway/trace/step_counters.h"
#include "headway/trace/trace.h"
#include "headway/trace/trace_file.h"

namespace headway {

// The inside eye. A thread reads the counters of a run, four times a second at first, then less
// often the longer the run lasts and the more a reading costs. It keeps the readings as a Trace of
// bounded size, and writes them to a file if one is named. The training thread only stores a few
// numbers.
//
//   TraceRecorder recorder("run.trace", facts, counters);
//   recorder.watch(&pipeline);  ...  recorder.watch(nullptr);  // before it goes
//   const Trace trace = recorder.finish("finished");
class TraceRecorder {
 public:
  // `counters` must outlive it. With an empty path the trace is only kept in memory.
  // `gpu`: the PCI address of the GPU that trains; empty: none.
  // When not active, the trace only says how the run ended.
  TraceRecorder(const std::string& path, RunFacts facts, const StepCounters& counters,
                const std::string& gpu = "", bool active = true);
  ~TraceRecorder();  // without finish() the trace says that the run failed
  TraceRecorder(const TraceRecorder&) = delete;

  // All of these are for the training thread only.
  void facts(RunFacts facts) HEADWAY_EXCLUDES(mu_);  // once more is known about the run
  void enter(RunPhase phase) HEADWAY_EXCLUDES(mu_);  // the phase that begins now
  void watch(const Pipeline* pipeline) HEADWAY_EXCLUDES(mu_);
  void loss(int64_t step, double value);
  void callback_time(size_t callback, int64_t ns);
  void weights(std::vector<WeightFacts> weights, std::vector<std::string> layers)
      HEADWAY_EXCLUDES(mu_);
  void numbers(NumbersReading numbers) HEADWAY_EXCLUDES(mu_);
  void replay(const ReplayReading& replay) HEADWAY_EXCLUDES(mu_);
  void position(int64_t epoch, int64_t step_in_epoch, double learning_rate);
  void epoch_done(TraceEpoch epoch) HEADWAY_EXCLUDES(mu_);
  void note(TraceNote note) HEADWAY_EXCLUDES(mu_);  // fills in its time
  void note(NoteKind kind, const std::string& text) HEADWAY_EXCLUDES(mu_) {
    note(TraceNote{.kind = kind, .text = text});
  }
  void rest();       // no readings are taken ...
  int64_t resume();  // ... until here; returns the ns between, by which readings are delayed
  Trace finish(const std::string& ending) HEADWAY_EXCLUDES(mu_);

  // Called by the recorder's own thread when nothing has moved for a while, and again after twice
  // as long, with what is known and who waits for what. Set it before the run begins.
  using Alarm = std::function<void(const Trace& trace, const std::string& waits)>;
  void when_quiet(Alarm alarm) HEADWAY_EXCLUDES(mu_);
  // Called by that thread after every reading. Set it before the run begins.
  void when_looked(std::function<void(const Trace&)> show) HEADWAY_EXCLUDES(mu_);
  Trace so_far() HEADWAY_EXCLUDES(mu_);         // with a new reading; any thread, before finish()
  void interrupt_feed() HEADWAY_EXCLUDES(mu_);  // next() of the watched pipeline throws; any thread

 private:
  void run();
  void stop();
  void look() HEADWAY_REQUIRES(mu_);
  double look_and_rest() HEADWAY_EXCLUDES(mu_);
  void look_at_feed(TraceReading& reading) HEADWAY_REQUIRES(mu_);
  void find_gpu() HEADWAY_EXCLUDES(mu_);
  GpuReading look_at_gpu(double now_s) HEADWAY_REQUIRES(mu_);
  void report_stall() HEADWAY_EXCLUDES(mu_);
  void show_looked() HEADWAY_EXCLUDES(mu_);
  double since_start_s() const;
  double watched_s() const;  // not counting rests

  std::atomic<bool> active_;
  const std::string gpu_address_;
  const int64_t begun_ns_;
  const StepCounters& counters_;

  // Stored by the training thread, read by the recorder's own.
  std::atomic<RunPhase> phase_{RunPhase::kNone};
  std::atomic<int64_t> phase_since_ns_;
  std::atomic<double> loss_sum_{0}, loss_square_sum_{0}, learning_rate_{0};
  std::atomic<int64_t> losses_{0}, bad_losses_{0}, first_bad_step_{0};
  std::atomic<int64_t> epoch_{0}, step_in_epoch_{0};
  std::vector<std::atomic<int64_t>> callback_ns_;  // as RunFacts::callbacks
  FileReading files_before_;                       // what was read before this run began

  Mutex mu_;
  Trace trace_ HEADWAY_GUARDED_BY(mu_);
  std::unique_ptr<TraceWriter> writer_ HEADWAY_GUARDED_BY(mu_);
  FeedWatch feed_ HEADWAY_GUARDED_BY(mu_);
  SystemReader system_ HEADWAY_GUARDED_BY(mu_);
  std::unique_ptr<Nvml> nvml_ HEADWAY_GUARDED_BY(mu_);  // once it is open
  GpuReading gpu_ HEADWAY_GUARDED_BY(mu_);              // so far ...
  double gpu_at_s_ HEADWAY_GUARDED_BY(mu_) = 0;         // ... up to here
  Alarm alarm_ HEADWAY_GUARDED_BY(mu_);
  std::function<void(const Trace&)> show_ HEADWAY_GUARDED_BY(mu_);
  Thinning epochs_kept_ HEADWAY_GUARDED_BY(mu_){1000}, numbers_kept_ HEADWAY_GUARDED_BY(mu_){200};

  std::mutex wake_mu_;
  std::condition_variable wake_;
  bool stopping_ = false;  // these two under wake_mu_
  bool awaits_resume_ = false;
  int64_t rests_since_ns_ = 0;  // used by the training thread only
  std::atomic<int64_t> rested_ns_{0};
  bool finished_ = false;
  std::thread thread_;
};

}  // namespace headway
