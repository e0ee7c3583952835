#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "headway/core/element.h"
#include "headway/core/sync.h"
#include "headway/data/batch_builder.h"
#include "headway/data/cursor.h"
#include "headway/data/iterator.h"
#include "headway/data/runtime.h"

namespace headway {

// What became of one element in the operators of a stage.
struct Outcome {
  enum class Fate : uint8_t { kKept, kDropped, kFailed };
  Element element;
  Fate fate = Fate::kKept;
  std::exception_ptr error;
};

// One output of a stage, from its first sample until it is taken: a batch, or a chunk of elements.
struct OutputSlot {
  explicit OutputSlot(std::shared_ptr<BufferPool> pool) : builder(std::move(pool)) {}

  // Of several bad samples the earliest is the one reported.
  void fail(int64_t row, std::exception_ptr why) HEADWAY_EXCLUDES(mu);
  std::exception_ptr failure() const HEADWAY_EXCLUDES(mu);

  int64_t sequence = 0;                    // its number
  int64_t assigned = 0;                    // samples it has or will have
  std::atomic<int64_t> pending{0};         // samples at work, plus one while it may still grow
  std::atomic<bool> ready{false};          // downstream may take it
  BatchBuilder builder;                    // of a batch ...
  Element batch;                           // ... and the batch, once ready
  std::vector<Outcome> outcomes;           // of a chunk
  int64_t bytes = 0;                       // of what it holds, once ready
  std::atomic<int64_t> reserved_bytes{0};  // taken from the RAM budget
  Cursor after;                            // the input's position behind it
  int64_t ordinal_after = 0;
  bool remainder = false;  // a short last batch that is dropped
  bool taken = false;      // by downstream, perhaps before those ahead of it

 private:
  friend class OutputQueue;
  mutable Mutex mu;
  std::exception_ptr error HEADWAY_GUARDED_BY(mu);
  int64_t error_row HEADWAY_GUARDED_BY(mu) = 0;
};

// The queue behind a stage: a ring of slots. They are opened in order, completed in any order, and
// taken in order (or as they become ready).
//
// Three kinds of threads use it: the worker that pulls from the stage's input opens and closes
// slots, all workers complete samples in them, downstream takes what is ready. A slot belongs to
// one of them at a time: `pending` and `ready` hand it on.
class OutputQueue {
 public:
  struct Config {
    bool batches = false;  // else chunks of elements
    bool ordered = true;
    std::optional<int64_t> capacity{};  // default: by the size of an output
    // No stage upstream has counted these samples in the skip log.
    bool counts_samples = true;
  };
  OutputQueue(Runtime& runtime, Config config, StageCounters& counters);
  ~OutputQueue();

  // The worker that pulls. A new slot; null while there is no room.
  OutputSlot* open();
  // Nothing more comes into it; `after` and `ordinal_after` are set. True: it can be taken.
  bool close(OutputSlot& slot, bool wanted);
  void abandon(OutputSlot& slot);  // opened, but the input had ended
  // No slot will be opened any more; with an error, which downstream gets before all else.
  void end() { ended_ = true; }
  void end(std::exception_ptr error);
  bool ended() const { return ended_; }

  // Any worker. True: these were its last samples, and it can be taken. A slot that is not wanted
  // (the stage has been stopped) may lack samples.
  bool complete(OutputSlot& slot, int64_t samples, bool wanted = true);
  // Until a slot is complete: how large they will be. True: there may be room for more slots now.
  bool expect_bytes(OutputSlot& slot, int64_t bytes);
  int64_t slot_bytes() const { return slot_bytes_.load(std::memory_order_relaxed); }  // 0: unknown
  // The first slot that downstream has not taken, or not completely.
  int64_t awaited() const { return retired_; }

  // Downstream.
  Poll pop(Element& out);
  void save(Cursor& cursor) const;
  int64_t restore(CursorReader& cursor);    // how many elements had been pulled from the input
  Cursor& position() { return position_; }  // of the input, behind the last slot given out

  void set_capacity(int64_t capacity) { wanted_capacity_ = capacity; }

  // For reports.
  int64_t outstanding() const { return opened_ - retired_; }
  int64_t ready() const;

 private:
  static constexpr int64_t kMaxSlots = 256;

  OutputSlot& slot_at(int64_t sequence) const { return *slots_[sequence % kMaxSlots]; }
  OutputSlot* try_open();
  int64_t capacity() const;
  OutputSlot* next_ready();
  bool take_batch(OutputSlot& slot, Element& out);
  bool take_outcome(OutputSlot& slot, Element& out);
  void retire_taken();

  Runtime& runtime_;
  const Config config_;
  StageCounters& counters_;
  std::vector<std::unique_ptr<OutputSlot>> slots_;  // each made when first needed
  std::atomic<int64_t> wanted_capacity_;            // 0: chosen
  std::atomic<int64_t> slot_bytes_{0};              // of the last complete slot
  std::atomic<int64_t> opened_{0};                  // slots closed so far
  std::atomic<bool> refused_{false};                // a worker found no room
  std::atomic<bool> ended_{false};
  std::atomic<bool> broken_{false};  // with this:
  std::exception_ptr broken_by_;
  alignas(64) std::atomic<int64_t> retired_{0};  // slots given out completely

  // Used by downstream only.
  int64_t outcome_at_ = 0;  // next outcome of the slot at retired_
  bool spent_ = false;
  Cursor position_;
  int64_t ordinal_position_ = 0;
  int64_t discard_outcomes_ = 0;  // to drop after a restore
  std::set<int64_t> discard_slots_;
};

}  // namespace headway
