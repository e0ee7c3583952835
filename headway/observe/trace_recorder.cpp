#include "headway/observe/trace_recorder.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "headway/core/clock.h"
#include "headway/core/file_counters.h"

namespace headway {
namespace {

constexpr double kFirstInterval = 0.25;
constexpr double kLookShare = 0.001;  // of one core; with many threads or GPUs they are rarer ...
constexpr double kLongestRest = 2;    // ... but at least one in this time
constexpr size_t kMaxSamples = 600;   // then every other one is dropped
constexpr size_t kMaxNumbers = 200;
constexpr size_t kMaxPhases = 1000, kMaxNotes = 100, kMaxEpochs = 1000;
constexpr double kTick = 0.5;    // how often it is checked that something moves
constexpr double kQuiet = 5.25;  // seconds without progress until a note is written

// One thread writes: no need to lock the bus.
template <typename T>
void add(std::atomic<T>& to, T value) {
  to.store(to.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
}

// How long a phase must last to get its own line; what every step does is counted anyway.
double worth_noting(RunPhase phase) {
  return phase == RunPhase::kStep || phase == RunPhase::kWaitingForData ? kQuiet : 0.1;
}

}  // namespace

TraceRecorder::TraceRecorder(const std::string& path, RunFacts run, const StepCounters& counters,
                             const std::string& gpu, bool active)
    : active_(active),
      gpu_address_(gpu),
      begun_ns_(now_ns()),
      counters_(counters),
      phase_since_ns_(begun_ns_),
      callback_ns_(run.callbacks.size()),
      files_before_(file_counters().now()) {
  if (!path.empty()) {
    MutexLock lock(mu_);
    writer_ = std::make_unique<TraceWriter>(path);
  }
  facts(std::move(run));
  if (active_) thread_ = std::thread([this] { this->run(); });
}

TraceRecorder::~TraceRecorder() {
  if (!finished_) finish("failed");
}

double TraceRecorder::since_start_s() const { return 1e-9 * double(now_ns() - begun_ns_); }

double TraceRecorder::watched_s() const { return since_start_s() - 1e-9 * double(rested_ns_); }

void TraceRecorder::rest() {
  rests_since_ns_ = now_ns();
  active_ = false;
}

int64_t TraceRecorder::resume() {
  const int64_t now = now_ns(), rested = now - rests_since_ns_;
  rested_ns_ += rested;
  phase_since_ns_ = now;
  const std::lock_guard lock(wake_mu_);
  active_ = true;
  if (awaits_resume_) wake_.notify_all();
  return rested;
}

void TraceRecorder::facts(RunFacts facts) {
  MutexLock lock(mu_);
  facts.gpu = trace_.run.gpu;
  trace_.run = std::move(facts);
  if (writer_) writer_->write(trace_.run);
}

void TraceRecorder::enter(RunPhase phase) {
  if (!active_) return;
  const int64_t now = now_ns();
  const int64_t since = phase_since_ns_.exchange(now, std::memory_order_relaxed);
  const RunPhase before = phase_.exchange(phase, std::memory_order_relaxed);
  const double seconds = 1e-9 * double(now - since);
  const bool beginning = counters_.steps() == 0;
  if (before == RunPhase::kNone || (!beginning && seconds < worth_noting(before))) return;
  MutexLock lock(mu_);
  if (trace_.phases.size() >= kMaxPhases) return;
  trace_.phases.push_back({before, 1e-9 * double(since - begun_ns_), seconds});
  if (writer_) writer_->write(trace_.phases.back());
}

void TraceRecorder::watch(const Pipeline* pipeline) {
  MutexLock lock(mu_);
  TraceReading sum;
  look_at_feed(sum);
  feed_.follow(pipeline, std::move(sum));
}

void TraceRecorder::loss(int64_t step, double value) {
  if (!active_) return;
  if (std::isfinite(value)) {
    add(loss_sum_, value);
    add(loss_square_sum_, value * value);
    add<int64_t>(losses_, 1);
    return;
  }
  if (bad_losses_.load(std::memory_order_relaxed) == 0) first_bad_step_ = step;
  add<int64_t>(bad_losses_, 1);
}

void TraceRecorder::callback_time(size_t callback, int64_t ns) { add(callback_ns_[callback], ns); }

void TraceRecorder::weights(std::vector<WeightFacts> weights, std::vector<std::string> layers) {
  MutexLock lock(mu_);
  trace_.weights = std::move(weights);
  trace_.layers = std::move(layers);
  if (writer_) writer_->write(trace_.weights, trace_.layers);
}

void TraceRecorder::numbers(NumbersReading numbers) {
  MutexLock lock(mu_);
  numbers.at_s = since_start_s();
  if (writer_ && numbers_kept_.keeps_next()) writer_->write(numbers);
  trace_.numbers.push_back(std::move(numbers));
  thin_out(trace_.numbers, kMaxNumbers);
}

void TraceRecorder::replay(const ReplayReading& replay) {
  MutexLock lock(mu_);
  trace_.replay = replay;
  if (writer_) writer_->write(replay);
}

void TraceRecorder::position(int64_t epoch, int64_t step_in_epoch, double learning_rate) {
  if (!active_) return;
  epoch_.store(epoch, std::memory_order_relaxed);
  step_in_epoch_.store(step_in_epoch, std::memory_order_relaxed);
  learning_rate_.store(learning_rate, std::memory_order_relaxed);
}

void TraceRecorder::epoch_done(TraceEpoch epoch) {
  MutexLock lock(mu_);
  epoch.at_s = since_start_s();
  if (writer_ && epochs_kept_.keeps_next()) writer_->write(epoch);
  trace_.epochs.push_back(std::move(epoch));
  thin_out(trace_.epochs, kMaxEpochs);
}

void TraceRecorder::note(TraceNote note) {
  MutexLock lock(mu_);
  if (trace_.notes.size() >= kMaxNotes) return;
  note.at_s = since_start_s();
  trace_.notes.push_back(std::move(note));
  if (writer_) writer_->write(trace_.notes.back());
}

void TraceRecorder::look_at_feed(TraceReading& reading) {
  if (feed_.look(reading, trace_.stages) && writer_) writer_->write(trace_.stages);
}

// May take a while: runs on the recorder's own thread.
void TraceRecorder::find_gpu() {
  auto nvml = std::make_unique<Nvml>();
  if (!nvml->there()) return;
  const auto own = nvml->read_at(gpu_address_);
  const auto all = own ? std::vector{*own} : nvml->read({});
  MutexLock lock(mu_);
  if (!all.empty()) trace_.run.gpu = all[0].name;
  if (writer_) writer_->write(trace_.run);
  gpu_at_s_ = since_start_s();
  if (own) nvml_ = std::move(nvml);
}

// The driver's values are taken to hold for all the time since the last reading.
GpuReading TraceRecorder::look_at_gpu(double now_s) {
  if (const auto gpu = nvml_->read_at(gpu_address_)) {
    const double seconds = now_s - gpu_at_s_;
    gpu_.busy_s += gpu->recent * seconds;
    if (gpu->throttled) gpu_.throttled_s += seconds;
    gpu_.clock_mhz = gpu->clock_mhz;
    gpu_.full_clock_mhz = gpu->full_clock_mhz;
    gpu_.memory_bytes = gpu->memory_bytes;
    gpu_.memory_used = gpu->memory_used;
  }
  gpu_at_s_ = now_s;
  return gpu_;
}

void TraceRecorder::look() {
  TraceReading reading;
  const int64_t now = now_ns();
  reading.at_s = 1e-9 * double(now - begun_ns_);
  reading.phase = phase_.load(std::memory_order_relaxed);
  reading.phase_s = 1e-9 * double(now - phase_since_ns_.load(std::memory_order_relaxed));
  reading.epoch = epoch_;
  reading.step_in_epoch = step_in_epoch_;
  reading.steps = counters_.steps();
  reading.samples = counters_.samples();
  reading.times = counters_.times();
  reading.loss_sum = loss_sum_;
  reading.loss_square_sum = loss_square_sum_;
  reading.losses = losses_;
  reading.bad_losses = bad_losses_;
  reading.first_bad_step = first_bad_step_;
  reading.learning_rate = learning_rate_;
  for (const auto& ns : callback_ns_) reading.callback_s.push_back(1e-9 * double(ns));
  reading.files = file_counters().now() - files_before_;
  look_at_feed(reading);
  reading.system = system_.sample();
  if (nvml_) reading.gpu = look_at_gpu(reading.at_s);
  if (writer_) writer_->write(reading);
  trace_.samples.push_back(std::move(reading));
  thin_out(trace_.samples, kMaxSamples);
}

// Takes a reading; returns how long to wait until the next one.
double TraceRecorder::look_and_rest() {
  const int64_t begun = thread_cpu_ns();
  {
    MutexLock lock(mu_);
    look();
  }
  return std::min(kLongestRest, 1e-9 * double(thread_cpu_ns() - begun) / kLookShare);
}

void TraceRecorder::report_stall() {
  TraceNote stall{.kind = NoteKind::kStall};
  {
    MutexLock lock(mu_);
    const RunPhase phase = phase_.load(std::memory_order_relaxed);
    const bool owes = phase == RunPhase::kWaitingForData || phase == RunPhase::kFirstBatch;
    if (feed_.pipeline() && owes) {
      const Stall seen = feed_.pipeline()->stall();
      stall.text = seen.text;
      stall.where = seen.where;
      for (size_t i = trace_.stages.size(); i-- > 0;)
        if (trace_.stages[i].name == seen.stage) stall.stage = static_cast<int64_t>(i);
    }
  }
  if (!stall.text.empty()) note(stall);
  Trace seen;
  Alarm alarm;
  {
    MutexLock lock(mu_);
    look();
    if (!alarm_) return;
    seen = trace_;
    alarm = alarm_;
  }
  alarm(seen, stall.text);
}

void TraceRecorder::when_quiet(Alarm alarm) {
  MutexLock lock(mu_);
  alarm_ = std::move(alarm);
}

void TraceRecorder::when_looked(std::function<void(const Trace&)> show) {
  MutexLock lock(mu_);
  show_ = std::move(show);
}

// Shows a copy, so that the training thread never waits for drawing.
void TraceRecorder::show_looked() {
  Trace seen;
  std::function<void(const Trace&)> show;
  {
    MutexLock lock(mu_);
    if (!show_) return;
    seen = trace_;
    show = show_;
  }
  show(seen);
}

Trace TraceRecorder::so_far() {
  MutexLock lock(mu_);
  look();
  return trace_;
}

void TraceRecorder::interrupt_feed() {
  MutexLock lock(mu_);
  if (feed_.pipeline()) feed_.pipeline()->interrupt();
}

void TraceRecorder::run() {
  double interval = kFirstInterval, next_look = 0;
  size_t looks = 0;
  double moved_at = 0, next_report = kQuiet;
  int64_t seen_steps = -1;
  find_gpu();
  std::unique_lock wait(wake_mu_);
  while (!stopping_) {
    if (!active_) {
      awaits_resume_ = true;
      wake_.wait(wait, [this] { return stopping_ || active_; });
      awaits_resume_ = false;
      continue;
    }
    wait.unlock();
    const double now = watched_s();
    if (const int64_t steps = counters_.steps(); steps != seen_steps) {
      seen_steps = steps;
      moved_at = now;
      next_report = kQuiet;
    }
    if (now - moved_at >= next_report) {  // repeatedly, each time after twice as long
      next_report *= 2;
      report_stall();
    } else if (now >= next_look) {
      if (++looks % kMaxSamples == 0) interval *= 2;
      next_look = now + std::max(interval, look_and_rest());
      show_looked();
    }
    wait.lock();
    const double pause = std::clamp(next_look - watched_s(), 1e-3, kTick);
    wake_.wait_for(wait, std::chrono::duration<double>(pause), [this] { return stopping_; });
  }
}

void TraceRecorder::stop() {
  {
    const std::lock_guard lock(wake_mu_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Trace TraceRecorder::finish(const std::string& ending) {
  stop();
  enter(RunPhase::kEnded);
  finished_ = true;
  {
    MutexLock lock(mu_);
    look();
    trace_.ending = ending;
    if (writer_) writer_->write_ending(ending);
    writer_.reset();
  }
  show_looked();
  MutexLock lock(mu_);
  return std::move(trace_);
}

}  // namespace headway
