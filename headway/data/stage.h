#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headway/core/sync.h"
#include "headway/data/large_samples.h"
#include "headway/data/node.h"
#include "headway/data/output_queue.h"
#include "headway/data/runtime.h"

namespace headway {

struct StageConfig {
  std::string name{};
  std::vector<SampleOpPtr> ops{};  // run on each element, in this order
  int64_t batch_size = 0;          // 0: elements come out one by one
  bool drop_remainder = false;
  bool may_drop = false;  // ops may drop or fail-and-skip: only without batches
  bool ordered = true;
  std::optional<int> max_workers{};   // default: all
  std::optional<int64_t> capacity{};  // size of the queue: finished batches, or elements
};

// The parallel machine of a pipeline: takes elements from its input one after the other, runs the
// operators on many of them at once, and gives out the results in order (or as they finish), as
// elements or assembled into batches. map, batch, prefetch and parallel interleave are all stages.
//
//   input -> a worker claims the next elements and their rows -> workers run the operators
//         -> OutputQueue: slots that fill, wait, and are taken by downstream
//
// The input is an indexed node (elements by number; no lock, no state but the next number) or an
// iterator (pulled by one worker at a time). A worker never waits inside a stage for another stage;
// a sample that waits for memory is put aside (LargeSamples).
//
// An output slot holds one batch, or a chunk of elements; the chunk size adapts to the cost of an
// element.
class Stage : public std::enable_shared_from_this<Stage> {
 public:
  // Over an indexed node's iteration `epoch`.
  Stage(Runtime& runtime, StageConfig config, NodePtr indexed, int64_t epoch, int depth);
  // Over a stream; `epoch` keys the randomness of the operators.
  Stage(Runtime& runtime, StageConfig config, std::unique_ptr<Iterator> input, int64_t epoch,
        int depth);

  int depth() const { return depth_; }
  const std::string& name() const { return config_.name; }
  const StageConfig& config() const { return config_; }
  const StageCounters& counters() const { return *counters_; }

  ~Stage();

  // Worker side: does one piece of work if any is ready.
  bool try_work(Worker& worker);

  // Downstream side, one caller at a time.
  Poll pop(Element& out);
  void save(Cursor& cursor) const { queue_.save(cursor); }
  void restore(CursorReader& cursor);
  void set_capacity(int64_t capacity) { queue_.set_capacity(capacity); }

  // Work begins with the first pop(), or here: never before a restore.
  void start();
  // Stops work here and upstream; returns when no worker pulls from the input any more.
  void stop() HEADWAY_EXCLUDES(input_mu_);

  // "queue: 3 ready of 8 begun (room for 16); ...; waiting for input": for reports.
  std::string state() const;

 private:
  // The next elements of the input, and where their results go.
  struct Work {
    OutputSlot* slot = nullptr;
    int64_t row = 0;
    int64_t count = 0;
    int64_t ordinal = 0;
  };

  // One worker at a time.
  bool claim(Worker& worker, Work& work) HEADWAY_REQUIRES(input_mu_);
  bool open_slot() HEADWAY_REQUIRES(input_mu_);
  void close_slot() HEADWAY_REQUIRES(input_mu_);
  int64_t pull(Worker& worker, int64_t want, std::exception_ptr& error) HEADWAY_REQUIRES(input_mu_);
  int64_t chunk_size() const;

  // Many at once.
  void execute(Worker& worker, const Work& work);
  bool go_on_with_large(Worker& worker);
  bool fetch(Worker& worker, int64_t i, SampleTask& task, SampleContext& context, Element& sample);
  bool apply(Worker& worker, SampleTask& task, SampleContext& context, Element& sample);
  Element& element_of(Worker& worker, const SampleTask& task) const;
  void fail(SampleTask& task, Element& sample, const std::exception_ptr& error);
  void settle(SampleTask& task, const Element& sample);
  void announce();

  bool batches() const { return config_.batch_size > 0; }

  Runtime& runtime_;
  const StageConfig config_;
  const NodePtr indexed_;
  const int64_t epoch_;
  const int depth_;
  const int64_t total_;  // of an indexed input; kInfinite
  const std::shared_ptr<StageCounters> counters_;
  std::vector<std::string> op_names_;
  std::atomic<int> inside_{0};  // workers executing
  std::atomic<bool> started_{false};
  std::atomic<bool> stopped_{false};
  std::atomic<int64_t> sample_ns_{0};  // smoothed cost of one sample

  mutable Mutex input_mu_;
  std::unique_ptr<Iterator> input_ HEADWAY_GUARDED_BY(input_mu_);
  std::atomic<bool> input_ended_{false};
  int64_t ordinal_ HEADWAY_GUARDED_BY(input_mu_) = 0;  // elements pulled so far
  OutputSlot* open_ HEADWAY_GUARDED_BY(input_mu_) = nullptr;

  LargeSamples large_;
  OutputQueue queue_;
};

// A stage as an iterator for its consumer. The destructor ends the stage.
class StageIterator : public Iterator {
 public:
  StageIterator(Runtime& runtime, std::shared_ptr<Stage> stage);
  ~StageIterator() override;

  Poll next(Element& out) override { return stage_->pop(out); }
  void save(Cursor& cursor) const override { stage_->save(cursor); }
  void restore(CursorReader& cursor) override { stage_->restore(cursor); }
  Stage& stage() { return *stage_; }

 private:
  Runtime& runtime_;
  std::shared_ptr<Stage> stage_;
};

}  // namespace headway
