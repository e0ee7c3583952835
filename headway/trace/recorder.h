#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headway/core/sync.h"
#include "headway/trace/feed.h"

namespace headway {

// Time spent in one operator. Cheap operators are timed only for some elements: `timed` counts
// these, so that busy_ns / timed is the cost of one.
struct OpCounters {
  std::atomic<int64_t> timed{0};
  std::atomic<int64_t> busy_ns{0};
};

// What one stage of a pipeline has done. Workers add with relaxed atomics; any thread may read.
struct StageCounters {
  explicit StageCounters(StageFacts facts) : facts(std::move(facts)), ops(this->facts.ops.size()) {}
  StageReading sample() const;

  const StageFacts facts;
  std::vector<OpCounters> ops;  // as many as facts.ops, always

  // Written by workers ...
  std::atomic<int64_t> elements_in{0};      // pulled from upstream
  std::atomic<int64_t> input_ns{0};         // pulling from a source or a serial operator
  std::atomic<int64_t> busy_ns{0};          // running operators
  std::atomic<int64_t> waits_for_input{0};  // a worker found nothing to do
  std::atomic<int64_t> waits_for_room{0};   // a worker found the queue full
  std::atomic<int64_t> queue_fill{0};       // when the last slot was finished
  std::atomic<int64_t> queue_capacity{0};

  // ... and by the thread that takes elements: on a separate cache line.
  alignas(64) std::atomic<int64_t> elements_out{0};  // handed downstream: elements or batches
  std::atomic<int64_t> dropped{0};                   // filtered out, or skipped because of an error
  std::atomic<int64_t> bytes_out{0};
};

// What the consumer of a pipeline has experienced.
struct ConsumerCounters {
  std::atomic<int64_t> taken{0};
  std::atomic<int64_t> waiting_ns{0};    // inside next(), nothing ready
  std::atomic<int64_t> elsewhere_ns{0};  // between two calls of next(): the training step
  std::atomic<int64_t> first_ns{0};      // from start to the first element
};

// Always-on telemetry of one pipeline: counters registered by its stages, readable at any time.
//
//   for (const auto& stage : recorder.stages()) show(stage->facts.name, stage->sample());
class Recorder {
 public:
  std::shared_ptr<StageCounters> add_stage(StageFacts facts);
  // All stages so far, nearest to the consumer first.
  std::vector<std::shared_ptr<StageCounters>> stages() const;

  ConsumerCounters consumer;
  // Shuffle buffers that fill before they yield: elements they hold, and elements they need.
  std::atomic<int64_t> buffer_held{0}, buffer_wanted{0};

 private:
  mutable Mutex mu_;
  std::vector<std::shared_ptr<StageCounters>> stages_ HEADWAY_GUARDED_BY(mu_);
};

}  // namespace headway
