#pragma once

#include <atomic>
#include <exception>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "headway/core/sync.h"
#include "headway/data/batch_builder.h"
#include "headway/data/node.h"
#include "headway/data/run.h"

namespace headway {

struct StageConfig {
  std::string name{};
  std::vector<SampleOpPtr> ops{};  // run on each element, in this order
  int64_t batch_size = 0;          // 0: elements come out one by one
  bool drop_remainder = false;
  bool may_drop = false;  // ops may drop or fail-and-skip: only without batches
  bool ordered = true;
  std::optional<int> max_workers{};   // default: as many as there are
  std::optional<int64_t> capacity{};  // finished outputs kept ready: batches, or elements
};

// The parallel machine of a pipeline: takes elements from its input one after the other, runs the
// operators on many of them at once, and gives the results out in order (or as they come), as
// elements or assembled into batches. map, batch, prefetch and parallel interleave are all made of
// it.
//
// The input is an indexed node (elements by number; no lock, no state but the next number) or an
// iterator (pulled by one worker at a time). A worker never waits inside a stage for another stage.
//
// A sample whose image is too large to be at work beside what the RAM budget already holds is put
// aside, and goes on when there is room; the first of those that downstream waits for always may,
// so that none waits for ever.
//
// An output slot holds one batch, or a chunk of elements; its size adapts to what an element costs.
class Stage : public std::enable_shared_from_this<Stage> {
 public:
  // Over an indexed node's iteration `epoch`.
  Stage(Run& run, StageConfig config, NodePtr indexed, int64_t epoch, int depth);
  // Over a stream; `epoch` keys the randomness of the operators.
  Stage(Run& run, StageConfig config, std::unique_ptr<Iterator> input, int64_t epoch, int depth);

  int depth() const { return depth_; }
  const std::string& name() const { return config_.name; }
  const StageConfig& config() const { return config_; }
  const StageCounters& counters() const { return *counters_; }

  ~Stage();

  // Worker side: does one piece of work if any is ready.
  bool try_work(Worker& worker);

  // Downstream side, one caller at a time.
  Poll pop(Element& out);
  void save(Cursor& cursor) const;
  void restore(CursorReader& cursor);
  void set_capacity(int64_t capacity) { wanted_capacity_ = capacity; }

  // Work begins with the first pop(), or here: never before a restore.
  void start();
  // No more work here or upstream; returns once nobody pulls from the input any more.
  void stop() HEADWAY_EXCLUDES(input_mu_);

  // "3/8 ready, waiting for input": for reports.
  std::string state() const;

 private:
  enum class Fate : uint8_t { kKept, kDropped, kFailed };
  struct Outcome {
    Element element;
    Fate fate = Fate::kKept;
    std::exception_ptr error;
  };
  struct Slot {
    explicit Slot(std::shared_ptr<BufferPool> pool) : builder(std::move(pool)) {}
    std::atomic<int64_t> pending{0};  // samples at work, plus one while it may still grow
    std::atomic<bool> ready{false};   // complete: downstream may take it
    int64_t sequence = 0;
    int64_t assigned = 0;                    // samples it has or will have
    int64_t bytes = 0;                       // of what it holds, once complete
    std::atomic<int64_t> reserved_bytes{0};  // taken from the RAM budget
    BatchBuilder builder;                    // batches
    Element batch;
    std::vector<Outcome> outcomes;  // elements
    Cursor after;                   // the input's position behind the slot
    int64_t ordinal_after = 0;
    Mutex mu;
    std::exception_ptr error HEADWAY_GUARDED_BY(mu);
    int64_t error_row HEADWAY_GUARDED_BY(mu) = 0;  // the earliest bad sample is the one reported
    bool taken = false;                            // given out ahead of its turn
    bool remainder = false;                        // a short last batch that nobody wants
  };
  // What claim() hands to execute().
  struct Work {
    Slot* slot = nullptr;
    int64_t row = 0;
    int64_t count = 0;
    int64_t ordinal = 0;
  };
  // A sample on its way through the operators.
  struct Task {
    Slot* slot = nullptr;
    int64_t row = 0;
    int64_t ordinal = 0;
    size_t op = 0;              // the next one to run
    int64_t granted_bytes = 0;  // or, while it waits, wanted
    bool timed = false;
  };
  struct Waiting {
    Task task;
    Element sample;
  };

  bool claim(Worker& worker, Work& work) HEADWAY_REQUIRES(input_mu_);
  bool open_slot() HEADWAY_REQUIRES(input_mu_);
  void close_slot() HEADWAY_REQUIRES(input_mu_);
  int64_t pull(Worker& worker, int64_t want, std::exception_ptr& error) HEADWAY_REQUIRES(input_mu_);
  void execute(Worker& worker, const Work& work);
  bool produce(Worker& worker, int64_t i, Task& task, SampleContext& context);
  bool finish(Worker& worker, Task& task, SampleContext& context, Element& sample);
  void count_time(size_t op, int64_t spent_ns);
  bool grant(Task& task, int64_t bytes);
  void settle(Task& task, const Element& sample);
  bool record_failure(Task& task, Element& sample, const std::exception_ptr& error);
  bool put_aside(Task& task, int64_t bytes, Element& sample) HEADWAY_EXCLUDES(waiting_mu_);
  bool resume(Worker& worker) HEADWAY_EXCLUDES(waiting_mu_);
  void learn_size(Slot& slot, const Element& sample);
  void complete(Slot& slot, int64_t samples);
  void announce();
  void fail(Slot& slot, int64_t row, std::exception_ptr error);
  int64_t chunk_size() const;
  int64_t capacity() const;
  bool batches() const { return config_.batch_size > 0; }
  Slot& slot_at(int64_t sequence) const { return *slots_[sequence % kMaxSlots]; }
  Slot* next_ready();
  bool take_batch(Slot& slot, Element& out);
  bool take_outcome(Slot& slot, Element& out);
  void retire_taken();

  static constexpr int64_t kMaxSlots = 256;

  Run& run_;
  const StageConfig config_;
  const NodePtr indexed_;
  const int64_t epoch_;
  const int depth_;
  const int64_t total_;  // of an indexed input; kInfinite
  std::shared_ptr<StageCounters> counters_;
  std::vector<std::string> op_names_;
  std::vector<std::unique_ptr<Slot>> slots_;  // a ring; each made when first needed
  std::atomic<int64_t> wanted_capacity_;      // 0: chosen
  std::atomic<int> inside_{0};                // workers executing
  std::atomic<bool> started_{false};
  std::atomic<bool> stopped_{false};
  std::atomic<int64_t> slot_bytes_{0};           // of the last finished slot
  std::atomic<int64_t> sample_ns_{0};            // smoothed cost of one sample
  std::atomic<int64_t> opened_{0};               // slots opened so far
  std::atomic<bool> refused_{false};             // a worker found no room
  alignas(64) std::atomic<int64_t> retired_{0};  // slots given out completely; written downstream
  std::atomic<bool> ended_{false};               // the input gave its last element
  std::atomic<bool> finished_{false};            // ... and the last slot is closed
  std::atomic<bool> broken_{false};              // claiming work failed, by this:
  std::exception_ptr broken_by_;

  // Samples that wait for room in the RAM budget, by their slot's number and row.
  std::atomic<int64_t> waiting_count_{0};
  std::atomic<int64_t> granted_{0};  // samples at work on granted room
  Mutex waiting_mu_;
  std::map<std::pair<int64_t, int64_t>, Waiting> waiting_ HEADWAY_GUARDED_BY(waiting_mu_);

  mutable Mutex input_mu_;
  std::unique_ptr<Iterator> input_ HEADWAY_GUARDED_BY(input_mu_);
  int64_t ordinal_ HEADWAY_GUARDED_BY(input_mu_) = 0;  // elements pulled so far
  Slot* open_ HEADWAY_GUARDED_BY(input_mu_) = nullptr;

  // Downstream's own.
  bool first_to_see_ = true;  // no stage upstream has counted these elements
  int64_t outcome_at_ = 0;    // next outcome of the slot at retired_
  bool spent_ = false;
  Cursor position_;  // behind the last slot given out
  int64_t ordinal_position_ = 0;
  int64_t discard_outcomes_ = 0;  // to drop after a restore
  std::set<int64_t> discard_slots_;
};

// A stage seen as an iterator by whoever is downstream. Ends the stage when it goes.
class StageIterator : public Iterator {
 public:
  StageIterator(Run& run, std::shared_ptr<Stage> stage);
  ~StageIterator() override;

  Poll next(Element& out) override { return stage_->pop(out); }
  void save(Cursor& cursor) const override { stage_->save(cursor); }
  void restore(CursorReader& cursor) override;
  Stage& stage() { return *stage_; }

 private:
  Run& run_;
  std::shared_ptr<Stage> stage_;
};

}  // namespace headway
