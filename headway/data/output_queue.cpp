#include "headway/data/output_queue.h"

#include <algorithm>

namespace headway {
namespace {

constexpr int64_t kSmallSlotBytes = 1 << 20;
constexpr int64_t kFewSlots = 4, kManySlots = 16;

// Very small slots are not counted against the budget: all 256 of a queue take 1 MB, and counting
// would cost as much as filling them.
int64_t counted(int64_t slot_bytes) { return slot_bytes < 4096 ? 0 : slot_bytes; }

bool is_sample_error(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const SampleError&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

void OutputSlot::fail(int64_t row, std::exception_ptr why) {
  MutexLock lock(mu);
  if (error && error_row <= row) return;
  error = std::move(why);
  error_row = row;
}

std::exception_ptr OutputSlot::failure() const {
  MutexLock lock(mu);
  return error;
}

OutputQueue::OutputQueue(Runtime& runtime, Config config, StageCounters& counters)
    : runtime_(runtime),
      config_(config),
      counters_(counters),
      slots_(kMaxSlots),
      wanted_capacity_(config.capacity.value_or(0)) {}

OutputQueue::~OutputQueue() {
  for (int64_t s = retired_; s < opened_; ++s) runtime_.ram.release(slot_at(s).reserved_bytes);
}

// ---- the worker that pulls ----

OutputSlot* OutputQueue::open() {
  if (OutputSlot* slot = try_open()) return slot;
  refused_ = true;  // whoever makes room wakes a worker; room made just now is seen here
  OutputSlot* slot = try_open();
  if (!slot) counters_.waits_for_room.fetch_add(1, std::memory_order_relaxed);
  return slot;
}

OutputSlot* OutputQueue::try_open() {
  if (outstanding() >= capacity()) return nullptr;
  const int64_t expected = slot_bytes_;
  const bool first = outstanding() == 0;
  if (expected == 0 && !first && config_.batches) return nullptr;  // learn the size first
  if (!runtime_.ram.reserve(counted(expected), first)) return nullptr;
  auto& place = slots_[opened_ % kMaxSlots];
  if (!place) place = std::make_unique<OutputSlot>(runtime_.buffers);
  OutputSlot& slot = *place;
  slot.pending = 1;  // close() takes it back
  slot.ready = false;
  slot.sequence = opened_;
  slot.assigned = 0;
  slot.reserved_bytes = counted(expected);
  slot.taken = slot.remainder = false;
  MutexLock lock(slot.mu);
  slot.error = nullptr;
  return &slot;
}

bool OutputQueue::close(OutputSlot& slot, bool wanted) {
  counters_.queue_fill.store(opened_ + 1 - retired_, std::memory_order_relaxed);
  opened_.fetch_add(1);
  return complete(slot, 1, wanted);
}

void OutputQueue::abandon(OutputSlot& slot) { runtime_.ram.release(slot.reserved_bytes); }

void OutputQueue::end(std::exception_ptr error) {
  broken_by_ = std::move(error);
  broken_.store(true, std::memory_order_release);
}

int64_t OutputQueue::capacity() const {
  int64_t slots = wanted_capacity_.load(std::memory_order_relaxed);
  if (slots == 0) {
    slots = slot_bytes_ < kSmallSlotBytes ? kManySlots : kFewSlots;
    if (!config_.batches) slots = std::max<int64_t>(slots, 2 * runtime_.pool.threads());
  }
  slots = std::clamp<int64_t>(slots, 1, kMaxSlots);
  counters_.queue_capacity.store(slots, std::memory_order_relaxed);
  return slots;
}

// ---- any worker ----

bool OutputQueue::complete(OutputSlot& slot, int64_t samples, bool wanted) {
  if (samples == 0 || slot.pending.fetch_sub(samples) != samples) return false;
  int64_t bytes = 0;
  if (!config_.batches) {
    for (const Outcome& o : slot.outcomes) bytes += o.element.size_bytes();
  } else if (wanted && !slot.failure()) {
    try {
      slot.batch = slot.builder.finish(slot.assigned);
      bytes = slot.batch.size_bytes();
    } catch (...) {
      slot.fail(0, std::current_exception());
    }
  }
  runtime_.ram.reserve(counted(bytes) - slot.reserved_bytes, true);
  slot.reserved_bytes = counted(bytes);
  slot.bytes = bytes;
  if (bytes > 0) slot_bytes_.store(bytes, std::memory_order_relaxed);
  slot.ready.store(true, std::memory_order_release);
  return true;
}

bool OutputQueue::expect_bytes(OutputSlot& slot, int64_t bytes) {
  int64_t unknown = 0;
  if (!slot_bytes_.compare_exchange_strong(unknown, std::max<int64_t>(1, bytes))) return false;
  runtime_.ram.reserve(counted(bytes), true);  // this is the only slot so far
  slot.reserved_bytes = counted(bytes);
  return true;
}

int64_t OutputQueue::ready() const {
  int64_t ready = 0;
  for (int64_t s = retired_; s < opened_; ++s) ready += slot_at(s).ready.load();
  return ready;
}

// ---- downstream ----

Poll OutputQueue::pop(Element& out) {
  while (!spent_) {
    if (broken_.load(std::memory_order_acquire)) {
      spent_ = true;
      std::rethrow_exception(broken_by_);
    }
    const bool ended = ended_.load(std::memory_order_acquire);
    OutputSlot* slot = next_ready();
    if (!slot) return ended && retired_ == opened_ ? Poll::kEnd : Poll::kPending;
    if (config_.batches ? take_batch(*slot, out) : take_outcome(*slot, out)) {
      counters_.elements_out.fetch_add(1, std::memory_order_relaxed);
      return Poll::kElement;
    }
  }
  return Poll::kEnd;
}

OutputSlot* OutputQueue::next_ready() {
  const int64_t opened = opened_.load(std::memory_order_acquire);
  for (int64_t sequence = retired_; sequence < opened; ++sequence) {
    OutputSlot& slot = slot_at(sequence);
    if (!slot.taken && slot.ready.load(std::memory_order_acquire)) return &slot;
    if (config_.ordered) return nullptr;
  }
  return nullptr;
}

bool OutputQueue::take_batch(OutputSlot& slot, Element& out) {
  if (const std::exception_ptr error = slot.failure()) {
    spent_ = true;
    std::rethrow_exception(error);
  }
  counters_.bytes_out.fetch_add(slot.bytes, std::memory_order_relaxed);
  const bool wanted = !slot.remainder && discard_slots_.count(slot.sequence) == 0;
  Element batch = std::move(slot.batch);
  slot.batch.clear();
  slot.taken = true;
  retire_taken();
  if (wanted) out = std::move(batch);
  return wanted;
}

// Takes the next outcome; false if it was dropped or skipped.
bool OutputQueue::take_outcome(OutputSlot& slot, Element& out) {
  bool kept = false;
  if (outcome_at_ < static_cast<int64_t>(slot.outcomes.size())) {
    Outcome& outcome = slot.outcomes[outcome_at_++];
    if (discard_outcomes_ > 0) {
      --discard_outcomes_;
    } else if (discard_slots_.count(slot.sequence)) {
      // given out before the position was saved
    } else if (outcome.fate == Outcome::Fate::kFailed) {
      counters_.dropped.fetch_add(1, std::memory_order_relaxed);
      if (!runtime_.skips_errors() || !is_sample_error(outcome.error)) spent_ = true;
      if (spent_) std::rethrow_exception(outcome.error);
      try {
        runtime_.skip_log.note(outcome.error);
      } catch (...) {
        spent_ = true;
        throw;
      }
    } else if (outcome.fate == Outcome::Fate::kDropped) {
      counters_.dropped.fetch_add(1, std::memory_order_relaxed);
    } else {
      if (runtime_.skips_errors() && config_.counts_samples) runtime_.skip_log.count_good(1);
      out = std::move(outcome.element);
      kept = true;
    }
  }
  if (outcome_at_ >= static_cast<int64_t>(slot.outcomes.size())) {
    const std::exception_ptr error = slot.failure();  // of the input, behind the slot's elements
    if (error && !kept) {
      spent_ = true;
      std::rethrow_exception(error);
    }
    if (!error) {
      slot.taken = true;
      outcome_at_ = 0;
      retire_taken();
    }
  }
  return kept;
}

void OutputQueue::retire_taken() {
  bool any = false;
  while (retired_ < opened_) {
    OutputSlot& slot = slot_at(retired_);
    if (!slot.taken || !slot.ready) break;
    runtime_.ram.release(slot.reserved_bytes);
    std::swap(position_, slot.after);
    ordinal_position_ = slot.ordinal_after;
    slot.outcomes.clear();
    retired_.fetch_add(1);
    any = true;
  }
  if (any && refused_.exchange(false)) runtime_.pool.work.notify_one();
}

void OutputQueue::save(Cursor& cursor) const {
  cursor.put(ordinal_position_);
  cursor.put(outcome_at_ + discard_outcomes_);
  Cursor taken;  // slots given out early, numbered from the first that was not
  const int64_t opened = opened_;
  for (int64_t sequence = retired_; sequence < opened; ++sequence) {
    if (slot_at(sequence).taken || discard_slots_.count(sequence)) taken.put(sequence - retired_);
  }
  for (int64_t sequence : discard_slots_) {
    if (sequence >= opened) taken.put(sequence - retired_);
  }
  cursor.put(taken);
  cursor.put(position_);
}

int64_t OutputQueue::restore(CursorReader& cursor) {
  ordinal_position_ = cursor.take();
  discard_outcomes_ = cursor.take();
  const Cursor taken = cursor.take_cursor();
  discard_slots_.insert(taken.words().begin(), taken.words().end());
  position_ = cursor.take_cursor();
  return ordinal_position_;
}

}  // namespace headway
