#include "headway/data/stage.h"

#include <fmt/format.h>

#include <algorithm>

namespace headway {
namespace {

constexpr int64_t kChunkNs = 50'000;  // work worth a trip to the queue
constexpr int64_t kMaxChunk = 64;
constexpr int64_t kTimeEveryNs = 5'000;  // samples dearer than this have each operator timed
constexpr int64_t kSmallSlotBytes = 1 << 20;
constexpr int64_t kFewSlots = 4, kManySlots = 16;

std::vector<std::string> names_of(const std::vector<SampleOpPtr>& ops) {
  std::vector<std::string> names;
  for (const SampleOpPtr& op : ops) names.push_back(op->name());
  return names;
}

// The exception at hand as one that names the operator and, where known, the file.
std::exception_ptr located(const std::string& op, const Element& sample) {
  try {
    throw;
  } catch (const SampleError& e) {
    return std::make_exception_ptr(
        e.origin().empty() ? SampleError(sample.origin(), op + ": " + e.reason(), e.hint())
                           : e.within(op));
  } catch (const Error& e) {
    return std::make_exception_ptr(SampleError(sample.origin(), op + ": " + e.problem(), e.hint()));
  } catch (const std::exception& e) {
    return std::make_exception_ptr(SampleError(sample.origin(), op + ": " + e.what()));
  } catch (...) {
    return with_context(std::current_exception(), op);
  }
}

struct OpFailure {
  std::exception_ptr error;
};

}  // namespace

struct Stage::Row : BatchRow {
  Row(BatchBuilder& builder, int64_t row) : builder(builder), row(row) {}
  void* place(Name name, DType dtype, const Shape& shape) override {
    return builder.place(row, name, dtype, shape);
  }
  BatchBuilder& builder;
  int64_t row;
};

Stage::Stage(Run& run, StageConfig config, NodePtr indexed, int64_t epoch, int depth)
    : run_(run),
      config_(std::move(config)),
      indexed_(std::move(indexed)),
      epoch_(epoch),
      depth_(depth),
      total_(indexed_->cardinality()),
      op_names_(names_of(config_.ops)),
      wanted_capacity_(config_.capacity) {
  counters_ = run.recorder.add_stage(config_.name, depth, op_names_);
  slots_.resize(kMaxSlots);
}

Stage::Stage(Run& run, StageConfig config, std::unique_ptr<Iterator> input, int64_t epoch,
             int depth)
    : run_(run),
      config_(std::move(config)),
      epoch_(epoch),
      depth_(depth),
      total_(kUnknown),
      op_names_(names_of(config_.ops)),
      wanted_capacity_(config_.capacity),
      input_(std::move(input)) {
  counters_ = run.recorder.add_stage(config_.name, depth, op_names_);
  slots_.resize(kMaxSlots);
  input_->save(position_);
}

// ---- workers ----

bool Stage::try_work(Worker& worker) {
  if (!started_ || finished_ || stopped_ || !input_mu_.try_lock()) return false;
  Work work;
  const bool claimed = claim(worker, work);
  input_mu_.unlock();
  if (!claimed) return false;
  execute(worker, work);
  return true;
}

bool Stage::claim(Worker& worker, Work& work) {
  if (ended_ || stopped_) return false;
  if (config_.max_workers > 0 && inside_ >= config_.max_workers) return false;
  if (!open_ && !open_slot()) {
    refused_ = true;  // whoever makes room wakes a worker; room made just now is seen here
    if (!open_slot()) {
      counters_->waits_for_room.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
  }
  Slot& slot = *open_;
  const int64_t room = batches() ? config_.batch_size - slot.assigned : kMaxChunk;
  std::exception_ptr error;
  const int64_t got = pull(worker, std::min(chunk_size(), room), error);
  if (got == 0 && !ended_) {
    counters_->waits_for_input.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (got == 0 && slot.assigned == 0 && !error) {  // the input ended right behind the last slot
    run_.ram.release(slot.reserved_bytes);
    open_ = nullptr;
    finished_ = true;
    announce();
    return false;
  }
  work = {&slot, slot.assigned, got, ordinal_};
  slot.assigned += got;
  ordinal_ += got;
  slot.pending.fetch_add(got);
  inside_.fetch_add(1);
  if (!batches()) slot.outcomes.resize(slot.assigned);
  if (error) fail(slot, slot.assigned, error);
  if (!batches() || slot.assigned == config_.batch_size || ended_) close_slot();
  if (ended_) {
    finished_ = true;
    announce();
  }
  run_.pool.work
      .notify_one();  // there may be more for a worker that came while this one was in here
  return true;
}

bool Stage::open_slot() {
  const int64_t outstanding = opened_ - retired_;
  if (outstanding >= capacity()) return false;
  const int64_t expected = slot_bytes_;
  if (expected == 0 && outstanding >= 1 && batches()) return false;  // learn the size first
  if (!run_.ram.reserve(expected, outstanding == 0)) return false;
  auto& place = slots_[opened_ % kMaxSlots];
  if (!place) place = std::make_unique<Slot>(run_.buffers);
  Slot& slot = *place;
  slot.pending = 1;  // close_slot() takes it back
  slot.ready = false;
  slot.sequence = opened_;
  slot.assigned = 0;
  slot.reserved_bytes = expected;
  slot.taken = slot.remainder = false;
  {
    MutexLock lock(slot.mu);
    slot.error = nullptr;
  }
  if (batches()) slot.builder.start(config_.batch_size, ordinal_);
  open_ = &slot;
  return true;
}

void Stage::close_slot() {
  Slot& slot = *open_;
  open_ = nullptr;
  slot.after.clear();
  if (input_) input_->save(slot.after);
  slot.ordinal_after = ordinal_;
  slot.remainder = batches() && config_.drop_remainder && slot.assigned < config_.batch_size;
  counters_->queue_fill.store(opened_ + 1 - retired_, std::memory_order_relaxed);
  opened_.fetch_add(1);
  complete(slot, 1);
}

int64_t Stage::pull(Worker& worker, int64_t want, std::exception_ptr& error) {
  if (indexed_) {
    const int64_t got = total_ == kInfinite ? want : std::min(want, total_ - ordinal_);
    if (total_ != kInfinite && ordinal_ + got >= total_) ended_ = true;
    return got;
  }
  static const std::string kPulling = "reading the next element";
  if (static_cast<int64_t>(worker.inputs.size()) < want) worker.inputs.resize(want);
  const int64_t start = now_ns();
  worker.activity.begin(config_.name);
  worker.activity.set_op(&kPulling);
  int64_t got = 0;
  while (got < want && !ended_) {
    Worker::Input& input = worker.inputs[got];
    input.error = nullptr;
    try {
      const Poll poll = input_->next(input.element);
      if (poll == Poll::kPending) break;
      if (poll == Poll::kEnd) ended_ = true;
      got += poll == Poll::kElement;
    } catch (const SampleError&) {
      if (run_.skips_errors() && config_.may_drop) {
        input.error = std::current_exception();
        ++got;
      } else {
        error = std::current_exception(), ended_ = true;
      }
    } catch (...) {
      error = std::current_exception(), ended_ = true;
    }
  }
  worker.activity.end();
  const int64_t spent = now_ns() - start;
  worker.busy_ns.fetch_add(spent, std::memory_order_relaxed);
  counters_->input_ns.fetch_add(spent, std::memory_order_relaxed);
  return got;
}

void Stage::execute(Worker& worker, const Work& work) {
  const int64_t start = now_ns();
  worker.activity.begin(config_.name);
  const bool dear = sample_ns_.load(std::memory_order_relaxed) > kTimeEveryNs;
  for (int64_t i = 0; i < work.count; ++i) {
    if (stopped_.load(std::memory_order_relaxed)) break;
    produce(worker, work, i, dear || (i == 0 && work.ordinal % 16 == 0));
  }
  worker.activity.end();
  const int64_t spent = now_ns() - start;
  worker.busy_ns.fetch_add(spent, std::memory_order_relaxed);
  counters_->busy_ns.fetch_add(spent, std::memory_order_relaxed);
  counters_->elements_in.fetch_add(work.count, std::memory_order_relaxed);
  if (work.count > 0) {
    const int64_t each = spent / work.count + 1;
    const int64_t before = sample_ns_.load(std::memory_order_relaxed);
    sample_ns_.store(before == 0 ? each : (7 * before + each) / 8, std::memory_order_relaxed);
  }
  inside_.fetch_sub(1);
  complete(*work.slot, work.count);
  if (config_.max_workers > 0) run_.pool.work.notify_one();
}

void Stage::produce(Worker& worker, const Work& work, int64_t i, bool timed) {
  Slot& slot = *work.slot;
  const int64_t row = work.row + i;
  Element& sample = batches() ? worker.sample : slot.outcomes[row].element;
  SampleContext context{run_.seed(), epoch_, work.ordinal + i, nullptr, &run_.ram};
  Fate fate = Fate::kKept;
  std::exception_ptr error;
  try {
    if (indexed_) {
      sample.clear();
      indexed_->at(work.ordinal + i, epoch_, context, sample);
    } else {
      error = worker.inputs[i].error;
      sample = std::move(worker.inputs[i].element);
    }
    if (!error) {
      if (sample.origin_file()) worker.activity.set_file(sample.origin_file());
      Row place(slot.builder, row);
      if (batches()) context.row = &place;
      if (!run_ops(worker, sample, context, timed)) fate = Fate::kDropped;
      if (batches()) {
        slot.builder.put(row, sample);
        if (slot_bytes_.load(std::memory_order_relaxed) == 0) learn_size(slot, sample);
      }
    }
  } catch (const OpFailure& failure) {
    error = failure.error;
  } catch (...) {
    error = std::current_exception();
  }
  if (batches()) {
    if (error) fail(slot, row, error);
    return;
  }
  if (error) sample.clear();
  slot.outcomes[row].fate = error ? Fate::kFailed : fate;
  slot.outcomes[row].error = error;
}

// From the very first sample on, slots reserve what they will need.
void Stage::learn_size(Slot& slot, const Element& sample) {
  int64_t unknown = 0;
  const int64_t expected = std::max<int64_t>(1, sample.size_bytes() * config_.batch_size);
  if (!slot_bytes_.compare_exchange_strong(unknown, expected)) return;
  run_.ram.reserve(expected, true);  // this is the only slot so far
  slot.reserved_bytes = expected;
  run_.pool.work.notify_one();
}

bool Stage::run_ops(Worker& worker, Element& sample, SampleContext& context, bool timed) {
  BatchRow* const row = context.row;
  for (size_t i = 0; i < config_.ops.size(); ++i) {
    worker.activity.set_op(&op_names_[i]);
    context.row = i + 1 == config_.ops.size() ? row : nullptr;
    const int64_t start = timed ? now_ns() : 0;
    bool kept = false;
    try {
      kept = config_.ops[i]->apply(sample, context);
    } catch (...) {
      throw OpFailure{located(op_names_[i], sample)};
    }
    if (timed) {
      counters_->ops[i]->busy_ns.fetch_add(now_ns() - start, std::memory_order_relaxed);
      counters_->ops[i]->timed.fetch_add(1, std::memory_order_relaxed);
    }
    if (!kept) return false;
  }
  return true;
}

void Stage::fail(Slot& slot, int64_t row, std::exception_ptr error) {
  MutexLock lock(slot.mu);
  if (slot.error && slot.error_row <= row) return;
  slot.error = std::move(error);
  slot.error_row = row;
}

void Stage::complete(Slot& slot, int64_t samples) {
  if (samples == 0 || slot.pending.fetch_sub(samples) != samples) return;
  bool failed = false;
  {
    MutexLock lock(slot.mu);
    failed = slot.error != nullptr;
  }
  int64_t bytes = 0;
  if (!batches()) {
    for (const Outcome& o : slot.outcomes) bytes += o.element.size_bytes();
  } else if (!failed && !stopped_) {
    try {
      slot.batch = slot.builder.finish(slot.assigned);
      bytes = slot.batch.size_bytes();
    } catch (...) {
      fail(slot, 0, std::current_exception());
    }
  }
  run_.ram.reserve(bytes - slot.reserved_bytes, true);
  slot.reserved_bytes = bytes;
  if (bytes > 0) slot_bytes_.store(bytes, std::memory_order_relaxed);
  slot.ready.store(true, std::memory_order_release);
  announce();
}

// Something can be taken, or the end can be seen.
void Stage::announce() {
  if (depth_ == 0) {
    run_.pool.output.notify_one();
  } else {
    run_.pool.work.notify_one();
  }
}

int64_t Stage::chunk_size() const {
  if (!config_.ordered && !batches()) return 1;  // so that a position can name what was given out
  const int64_t each = sample_ns_.load(std::memory_order_relaxed);
  return each == 0 ? 1 : std::clamp<int64_t>(kChunkNs / each, 1, kMaxChunk);
}

int64_t Stage::capacity() const {
  int64_t slots = wanted_capacity_.load(std::memory_order_relaxed);
  if (slots == kAuto) {
    slots = slot_bytes_ < kSmallSlotBytes ? kManySlots : kFewSlots;
    if (!batches()) slots = std::max<int64_t>(slots, 2 * run_.pool.threads());
  }
  slots = std::clamp<int64_t>(slots, 1, kMaxSlots);
  counters_->queue_capacity.store(slots, std::memory_order_relaxed);
  return slots;
}

// ---- downstream ----

void Stage::start() {
  if (!started_.exchange(true)) run_.pool.work.notify_one();
}

Poll Stage::pop(Element& out) {
  if (!started_.load(std::memory_order_relaxed)) start();
  while (!spent_) {
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
  counters_->bytes_out.fetch_add(slot.reserved_bytes, std::memory_order_relaxed);
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
      if (!run_.skips_errors()) spent_ = true;
      if (spent_) std::rethrow_exception(outcome.error);
      try {
        run_.ledger.note(outcome.error);
      } catch (...) {
        spent_ = true;
        throw;
      }
    } else if (outcome.fate == Fate::kDropped) {
      counters_->dropped.fetch_add(1, std::memory_order_relaxed);
    } else {
      if (run_.skips_errors()) run_.ledger.count_good(1);
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
  if (any && refused_.exchange(false)) run_.pool.work.notify_one();
}

void Stage::save(Cursor& cursor) const {
  cursor.put(ordinal_position_);
  cursor.put(outcome_at_ + discard_outcomes_);
  Cursor taken;  // slots given out ahead of their turn, counted from the first that was not
  for (int64_t sequence = retired_; sequence < opened_; ++sequence) {
    if (slot_at(sequence).taken) taken.put(sequence - retired_);
  }
  for (int64_t sequence : discard_slots_) {
    if (sequence >= opened_) taken.put(sequence - retired_);
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
