// What downstream sees of a stage: taking outputs, and positions. The workers' side is stage.cpp.
#include <fmt/format.h>

#include "headway/data/stage.h"

namespace headway {
namespace {

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

void Stage::start() {
  if (!started_.exchange(true)) run_.pool.work.notify_one();
}

Poll Stage::pop(Element& out) {
  if (!started_.load(std::memory_order_relaxed)) start();
  while (!spent_) {
    if (broken_.load(std::memory_order_acquire)) {
      spent_ = true;
      std::rethrow_exception(broken_by_);
    }
    const bool finished = finished_.load(std::memory_order_acquire);
    Slot* slot = next_ready();
    if (!slot) return finished && retired_ == opened_ ? Poll::kEnd : Poll::kPending;
    if (batches() ? take_batch(*slot, out) : take_outcome(*slot, out)) {
      counters_->elements_out.fetch_add(1, std::memory_order_relaxed);
      return Poll::kElement;
    }
  }
  return Poll::kEnd;
}

Stage::Slot* Stage::next_ready() {
  const int64_t opened = opened_.load(std::memory_order_acquire);
  for (int64_t sequence = retired_; sequence < opened; ++sequence) {
    Slot& slot = slot_at(sequence);
    if (!slot.taken && slot.ready.load(std::memory_order_acquire)) return &slot;
    if (config_.ordered) return nullptr;
  }
  return nullptr;
}

bool Stage::take_batch(Slot& slot, Element& out) {
  std::exception_ptr error;
  {
    MutexLock lock(slot.mu);
    error = slot.error;
  }
  if (error) {
    spent_ = true;
    std::rethrow_exception(error);
  }
  counters_->bytes_out.fetch_add(slot.bytes, std::memory_order_relaxed);
  const bool wanted = !slot.remainder && discard_slots_.count(slot.sequence) == 0;
  Element batch = std::move(slot.batch);
  slot.batch.clear();
  slot.taken = true;
  retire_taken();
  if (wanted) out = std::move(batch);
  return wanted;
}

// Takes the next outcome; false if it was dropped or skipped.
bool Stage::take_outcome(Slot& slot, Element& out) {
  bool kept = false;
  if (outcome_at_ < static_cast<int64_t>(slot.outcomes.size())) {
    Outcome& outcome = slot.outcomes[outcome_at_++];
    if (discard_outcomes_ > 0) {
      --discard_outcomes_;
    } else if (discard_slots_.count(slot.sequence)) {
    } else if (outcome.fate == Fate::kFailed) {
      counters_->dropped.fetch_add(1, std::memory_order_relaxed);
      if (!run_.skips_errors() || !is_sample_error(outcome.error)) spent_ = true;
      if (spent_) std::rethrow_exception(outcome.error);
      try {
        run_.skip_log.note(outcome.error);
      } catch (...) {
        spent_ = true;
        throw;
      }
    } else if (outcome.fate == Fate::kDropped) {
      counters_->dropped.fetch_add(1, std::memory_order_relaxed);
    } else {
      if (run_.skips_errors() && first_to_see_) run_.skip_log.count_good(1);
      out = std::move(outcome.element);
      kept = true;
    }
  }
  if (outcome_at_ >= static_cast<int64_t>(slot.outcomes.size())) {
    std::exception_ptr error;  // of the input, behind the slot's elements
    {
      MutexLock lock(slot.mu);
      error = slot.error;
    }
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

void Stage::retire_taken() {
  bool any = false;
  while (retired_ < opened_) {
    Slot& slot = slot_at(retired_);
    if (!slot.taken || !slot.ready) break;
    run_.ram.release(slot.reserved_bytes);
    std::swap(position_, slot.after);
    ordinal_position_ = slot.ordinal_after;
    slot.outcomes.clear();
    retired_.fetch_add(1);
    any = true;
  }
  if (any && (refused_.exchange(false) || waiting_count_.load() > 0)) run_.pool.work.notify_one();
}

void Stage::save(Cursor& cursor) const {
  cursor.put(ordinal_position_);
  cursor.put(outcome_at_ + discard_outcomes_);
  Cursor taken;  // slots given out ahead of their turn, counted from the first that was not
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

void Stage::restore(CursorReader& cursor) {
  MutexLock lock(input_mu_);
  ordinal_ = ordinal_position_ = cursor.take();
  discard_outcomes_ = cursor.take();
  const Cursor taken = cursor.take_cursor();
  discard_slots_.insert(taken.words().begin(), taken.words().end());
  position_ = cursor.take_cursor();
  if (indexed_ && total_ != kInfinite && ordinal_ >= total_) ended_ = true, finished_ = true;
  if (!input_) return;
  CursorReader nested(position_);
  input_->restore(nested);
}

std::string Stage::state() const {
  int64_t ready = 0;
  const int64_t outstanding = opened_ - retired_;
  for (int64_t s = retired_; s < opened_; ++s) ready += slot_at(s).ready.load();
  std::string why;
  if (inside_ > 0) {
    why = fmt::format("{} at work", inside_.load());
  } else if (finished_) {
    why = "input has ended";
  } else if (outstanding >= counters_->queue_capacity && outstanding > 0) {
    why = "waiting for room downstream";
  } else {
    why = "waiting for input";
  }
  return fmt::format("queue {} ready of {} begun (room for {}), {} in, {} out, {}", ready,
                     outstanding, counters_->queue_capacity.load(), counters_->elements_in.load(),
                     counters_->elements_out.load(), why);
}

StageIterator::StageIterator(Run& run, std::shared_ptr<Stage> stage)
    : run_(run), stage_(std::move(stage)) {
  run_.pool.add(stage_);
}

StageIterator::~StageIterator() {
  stage_->stop();
  run_.pool.remove(stage_.get());
}

void StageIterator::restore(CursorReader& cursor) { stage_->restore(cursor); }

}  // namespace headway
