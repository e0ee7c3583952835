#include "headway/observe/watched_feed.h"

#include <atomic>

#include "headway/core/log.h"
#include "headway/core/sync.h"
#include "headway/observe/trace_recorder.h"
#include "headway/observe/watchdog.h"

namespace headway {
namespace {

RunFacts facts_of(const Dataset& dataset, const WatchOptions& options) {
  RunFacts facts = facts_of_feed(dataset);
  facts.program = options.program;
  facts.purpose = options.measures ? Purpose::kMeasure : Purpose::kFeed;
  return facts;
}

Diagnosis judged(const Trace& trace) {
  Diagnosis out{.findings = diagnose(trace)};
  out.verdict = verdict(trace, out.findings);
  return out;
}

}  // namespace

struct WatchedFeed::Impl {
  Impl(const Dataset& dataset, WatchOptions given)
      : options(std::move(given)), recorder(options.trace, facts_of(dataset, options), counters) {
    pipeline.emplace(dataset.start(options.start));
    counters.restart();
    recorder.when_quiet(
        [this](const Trace& trace, const std::string& waits) { sound_alarm(trace, waits); });
    recorder.watch(&*pipeline);
    recorder.enter(RunPhase::kConsuming);
  }

  ~Impl() {
    finish();
    // A worker that never returns cannot be joined: the pipeline is leaked on purpose.
    if (stuck) new Pipeline(std::move(*pipeline));
  }

  // Runs on the recorder's thread.
  void sound_alarm(const Trace& trace, const std::string& waits) {
    const std::string report = stuck_report(trace, waits);
    if (report.empty()) return;
    stuck = true;
    if (!options.when_stuck) return log(LogLevel::kWarning, report);
    options.when_stuck(judged(trace), report);
  }

  void finish() HEADWAY_EXCLUDES(mu) {
    MutexLock lock(mu);
    if (ended) return;
    recorder.watch(nullptr);
    ended = recorder.finish(ending);
  }

  const WatchOptions options;
  StepCounters counters;
  TraceRecorder recorder;
  std::optional<Pipeline> pipeline;
  bool any = false;                // an element was taken
  std::string ending = "stopped";  // what finish() would store
  std::atomic<bool> stuck{false};  // now
  Mutex mu;
  std::optional<Trace> ended HEADWAY_GUARDED_BY(mu);  // once it has ended
};

WatchedFeed::WatchedFeed(const Dataset& dataset, WatchOptions options)
    : impl_(std::make_unique<Impl>(dataset, std::move(options))) {}
WatchedFeed::~WatchedFeed() = default;

std::optional<Element> WatchedFeed::next() {
  Impl& f = *impl_;
  f.counters.mark(StepPhase::kConsumer);
  f.recorder.enter(f.any ? RunPhase::kWaitingForData : RunPhase::kFirstBatch);
  std::optional<Element> element;
  try {
    element = f.pipeline->next();
  } catch (const std::exception& e) {
    f.ending = std::string("failed: ") + e.what();
    throw;
  }
  f.counters.mark(StepPhase::kWaitForData);
  f.recorder.enter(RunPhase::kConsuming);
  f.stuck = false;
  f.any = true;
  f.ending = element ? "stopped" : "finished";
  if (element) f.counters.step_done(samples_in(*element));
  return element;
}

Diagnosis WatchedFeed::diagnosis() const {
  Impl& f = *impl_;
  MutexLock lock(f.mu);
  return judged(f.ended ? *f.ended : f.recorder.so_far());
}

Diagnosis WatchedFeed::finish() {
  impl_->finish();
  return diagnosis();
}

Pipeline& WatchedFeed::pipeline() { return *impl_->pipeline; }

}  // namespace headway
