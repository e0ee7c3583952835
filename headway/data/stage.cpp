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

// Slots too small to matter are not counted against the budget: with all of a queue's 256 in use
// they come to 1 MB, and counting would cost as much as filling them.
int64_t counted(int64_t slot_bytes) { return slot_bytes < 4096 ? 0 : slot_bytes; }

std::vector<std::string> names_of(const std::vector<SampleOpPtr>& ops) {
  std::vector<std::string> names;
  for (const SampleOpPtr& op : ops) names.push_back(op->name());
  return names;
}

StageFacts facts_of(const StageConfig& config, int depth) {
  StageFacts facts{
      .name = config.name, .depth = depth, .max_workers = config.max_workers.value_or(0)};
  for (const SampleOpPtr& op : config.ops) facts.ops.push_back(op->facts());
  return facts;
}

// Inside a catch block: located(), or why there is no memory for its words.
std::exception_ptr located_if_possible(const std::string& op, const Element& sample) {
  try {
    return located(op, sample);
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace

Stage::Stage(Run& run, StageConfig config, NodePtr indexed, int64_t epoch, int depth)
    : run_(run),
      config_(std::move(config)),
      indexed_(std::move(indexed)),
      epoch_(epoch),
      depth_(depth),
      total_(indexed_->cardinality()),
      op_names_(names_of(config_.ops)),
      wanted_capacity_(config_.capacity.value_or(0)) {
  counters_ = run.recorder.add_stage(facts_of(config_, depth));
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
      wanted_capacity_(config_.capacity.value_or(0)),
      input_(std::move(input)) {
  counters_ = run.recorder.add_stage(facts_of(config_, depth));
  slots_.resize(kMaxSlots);
  input_->save(position_);
  first_to_see_ = dynamic_cast<StageIterator*>(input_.get()) == nullptr;
}

// Workers hold references, so none is inside.
Stage::~Stage() {
  for (int64_t s = retired_; s < opened_; ++s) run_.ram.release(slot_at(s).reserved_bytes);
  MutexLock lock(input_mu_);
  if (open_) run_.ram.release(open_->reserved_bytes);
}

void Stage::stop() {
  stopped_ = true;
  std::unique_ptr<Iterator> upstream;  // ends outside of the lock
  MutexLock lock(input_mu_);
  upstream = std::move(input_);
}

bool Stage::try_work(Worker& worker) {
  if (waiting_count_.load(std::memory_order_relaxed) > 0 && resume(worker)) return true;
  if (!started_ || finished_ || stopped_ || !input_mu_.try_lock()) return false;
  Work work;
  bool claimed = false;
  try {
    claimed = claim(worker, work);
  } catch (...) {  // no memory even to keep the books
    broken_by_ = std::current_exception();
    broken_.store(true, std::memory_order_release);
    stopped_ = true;
    announce();
  }
  input_mu_.unlock();
  if (!claimed) return false;
  execute(worker, work);
  return true;
}

bool Stage::claim(Worker& worker, Work& work) {
  if (ended_ || stopped_) return false;
  if (config_.max_workers && inside_ >= *config_.max_workers) return false;
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
  if (!run_.ram.reserve(counted(expected), outstanding == 0)) return false;
  auto& place = slots_[opened_ % kMaxSlots];
  if (!place) place = std::make_unique<Slot>(run_.buffers);
  Slot& slot = *place;
  slot.pending = 1;  // close_slot() takes it back
  slot.ready = false;
  slot.sequence = opened_;
  slot.assigned = 0;
  slot.reserved_bytes = counted(expected);
  slot.taken = slot.remainder = false;
  {
    MutexLock lock(slot.mu);
    slot.error = nullptr;
  }
  if (batches()) {
    const bool finite = indexed_ && total_ != kInfinite;
    const int64_t rows =
        finite ? std::min(config_.batch_size, total_ - ordinal_) : config_.batch_size;
    slot.builder.start(rows, ordinal_);
  }
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

// False when the sample waits for room. A scalar costs little more than the calls on its way, so
// there are few: this one is inline, and the operators run in finish() itself.
inline bool Stage::produce(Worker& worker, int64_t i, Task& task, SampleContext& context) {
  Element& sample = batches() ? worker.sample : task.slot->outcomes[task.row].element;
  context.ordinal = task.ordinal;
  context.row = nullptr;
  context.granted_bytes.reset();
  if (indexed_) {
    try {
      sample.clear();
      indexed_->at(task.ordinal, epoch_, context, sample);
    } catch (...) {
      return record_failure(task, sample, std::current_exception());
    }
  } else {
    sample = std::move(worker.inputs[i].element);
    if (worker.inputs[i].error) return record_failure(task, sample, worker.inputs[i].error);
  }
  return finish(worker, task, context, sample);
}

void Stage::execute(Worker& worker, const Work& work) {
  const int64_t start = now_ns();
  worker.activity.begin(config_.name);
  const bool dear = sample_ns_.load(std::memory_order_relaxed) > kTimeEveryNs;
  int64_t put_aside = 0;
  SampleContext context{run_.seed(), epoch_, work.ordinal, nullptr, &run_.ram};
  for (int64_t i = 0; i < work.count; ++i) {
    if (stopped_.load(std::memory_order_relaxed)) break;
    const bool timed = dear || (i == 0 && work.ordinal % 16 == 0);
    Task task{.slot = work.slot, .row = work.row + i, .ordinal = work.ordinal + i, .timed = timed};
    put_aside += !produce(worker, i, task, context);
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
  complete(*work.slot, work.count - put_aside);
  if (config_.max_workers) run_.pool.work.notify_one();
}

// Runs what is left of the operators and puts the result into its slot; false when it waits.
bool Stage::finish(Worker& worker, Task& task, SampleContext& context, Element& sample) {
  if (sample.origin_file()) worker.activity.set_file(sample.origin_file());
  const size_t ops = config_.ops.size();
  const BatchRow row{&task.slot->builder, task.row};
  size_t i = task.op;
  for (;;) {
    try {
      context.granted_bytes = task.granted_bytes;
      Fate fate = Fate::kKept;
      for (; i < ops && fate == Fate::kKept; ++i) {
        worker.activity.set_op(&op_names_[i]);
        context.row = batches() && i + 1 == ops ? &row : nullptr;
        const int64_t start = task.timed ? now_ns() : 0;
        if (!config_.ops[i]->apply(sample, context)) fate = Fate::kDropped;
        if (task.timed) count_time(i, now_ns() - start);
      }
      if (batches()) {
        task.slot->builder.put(task.row, sample);
        if (slot_bytes_.load(std::memory_order_relaxed) == 0) learn_size(*task.slot, sample);
      } else {
        task.slot->outcomes[task.row].fate = fate;
        task.slot->outcomes[task.row].error = nullptr;
      }
      if (task.granted_bytes > 0) settle(task, sample);
      return true;
    } catch (const NeedsRoom& wanted) {
      task.op = i;  // here it goes on
      if (!grant(task, wanted.bytes)) return put_aside(task, wanted.bytes, sample);
    } catch (...) {
      return record_failure(
          task, sample,
          i < ops ? located_if_possible(op_names_[i], sample) : std::current_exception());
    }
  }
}

void Stage::count_time(size_t op, int64_t spent_ns) {
  counters_->ops[op].busy_ns.fetch_add(spent_ns, std::memory_order_relaxed);
  counters_->ops[op].timed.fetch_add(1, std::memory_order_relaxed);
}

// True: the sample is done with.
bool Stage::record_failure(Task& task, Element& sample, const std::exception_ptr& error) {
  if (task.granted_bytes > 0) settle(task, sample);
  if (batches()) {
    fail(*task.slot, task.row, error);
    return true;
  }
  sample.clear();
  task.slot->outcomes[task.row].fate = Fate::kFailed;
  task.slot->outcomes[task.row].error = error;
  return true;
}

// From the very first sample on, slots reserve what they will need.
void Stage::learn_size(Slot& slot, const Element& sample) {
  int64_t unknown = 0;
  const int64_t rows = total_ > 0 ? std::min(config_.batch_size, total_) : config_.batch_size;
  const int64_t expected = std::max<int64_t>(1, sample.size_bytes() * rows);
  if (!slot_bytes_.compare_exchange_strong(unknown, expected)) return;
  run_.ram.reserve(counted(expected), true);  // this is the only slot so far
  slot.reserved_bytes = counted(expected);
  run_.pool.work.notify_one();
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
  run_.ram.reserve(counted(bytes) - slot.reserved_bytes, true);
  slot.reserved_bytes = counted(bytes);
  slot.bytes = bytes;
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
  if (slots == 0) {
    slots = slot_bytes_ < kSmallSlotBytes ? kManySlots : kFewSlots;
    if (!batches()) slots = std::max<int64_t>(slots, 2 * run_.pool.threads());
  }
  slots = std::clamp<int64_t>(slots, 1, kMaxSlots);
  counters_->queue_capacity.store(slots, std::memory_order_relaxed);
  return slots;
}

}  // namespace headway
