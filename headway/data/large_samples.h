#pragma once

#include <atomic>
#include <map>
#include <optional>
#include <utility>

#include "headway/core/element.h"
#include "headway/core/sync.h"
#include "headway/data/output_queue.h"

namespace headway {

// A sample on its way through the operators of a stage.
struct SampleTask {
  OutputSlot* slot = nullptr;
  int64_t row = 0;
  int64_t ordinal = 0;
  size_t op = 0;              // the next one to run
  int64_t granted_bytes = 0;  // of the RAM budget
  bool timed = false;         // each operator is timed
};

// The samples of a stage whose images are so large that they ask the RAM budget for room
// (NeedsRoom). One that gets none is put aside, and goes on when there is room; the first one that
// downstream waits for may always go on, so there is no deadlock. Thread-safe.
class LargeSamples {
 public:
  explicit LargeSamples(Runtime& runtime) : runtime_(runtime) {}

  // Takes `bytes` of the budget for a sample instead of its previous grant. A sample of the slot
  // that downstream awaits gets them in any case, unless another is at work on such a grant and
  // will end.
  bool grant(SampleTask& task, int64_t bytes, int64_t awaited_slot);

  // Replaces the grant of a finished sample by the bytes that its result keeps in the slot.
  void settle(SampleTask& task, int64_t kept_bytes);

  struct Waiting {
    SampleTask task;
    Element sample;
    int64_t wanted_bytes = 0;
  };
  void put_aside(Waiting waiting) HEADWAY_EXCLUDES(mu_);
  // The first of those that were put aside, if there is room for it.
  std::optional<Waiting> take_up(int64_t awaited_slot) HEADWAY_EXCLUDES(mu_);
  bool any_waiting() const { return waiting_count_.load() > 0; }

 private:
  Runtime& runtime_;
  std::atomic<int64_t> granted_{0};  // samples at work on a grant
  std::atomic<int64_t> waiting_count_{0};
  Mutex mu_;
  std::map<std::pair<int64_t, int64_t>, Waiting> waiting_ HEADWAY_GUARDED_BY(mu_);  // slot, row
};

}  // namespace headway
