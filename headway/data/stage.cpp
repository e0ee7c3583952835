#include "headway/data/stage.h"

#include <fmt/format.h>

#include <algorithm>

namespace headway {
namespace {

constexpr int64_t kChunkNs = 50'000;  // enough work to visit the queue for
constexpr int64_t kMaxChunk = 64;
constexpr int64_t kTimeEveryNs = 5'000;  // if samples take longer, each operator is timed

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

OutputQueue::Config queue_of(const StageConfig& config, bool counts_samples) {
  return {.batches = config.batch_size > 0,
          .ordered = config.ordered,
          .capacity = config.capacity,
          .counts_samples = counts_samples};
}

// Inside a catch block: located(), or the out-of-memory error if there is no memory for its text.
std::exception_ptr located_if_possible(const std::string& op, const Element& sample) {
  try {
    return located(op, sample);
  } catch (...) {
    return std::current_exception();
  }
}

// The time a worker spends in a stage: shown while it lasts, counted when it ends.
class TimedWork {
 public:
  TimedWork(Worker& worker, const std::string& stage) : worker_(worker), start_ns_(now_ns()) {
    worker_.activity.begin(stage);
  }
  int64_t end(std::atomic<int64_t>& stage_ns) {
    worker_.activity.end();
    const int64_t spent = now_ns() - start_ns_;
    worker_.busy_ns.fetch_add(spent, std::memory_order_relaxed);
    stage_ns.fetch_add(spent, std::memory_order_relaxed);
    return spent;
  }

 private:
  Worker& worker_;
  const int64_t start_ns_;
};

}  // namespace

Stage::Stage(Runtime& runtime, StageConfig config, NodePtr indexed, int64_t epoch, int depth)
    : runtime_(runtime),
      config_(std::move(config)),
      indexed_(std::move(indexed)),
      epoch_(epoch),
      depth_(depth),
      total_(indexed_->cardinality()),
      counters_(runtime.recorder.add_stage(facts_of(config_, depth))),
      op_names_(names_of(config_.ops)),
      large_(runtime),
      queue_(runtime, queue_of(config_, true), *counters_) {}

Stage::Stage(Runtime& runtime, StageConfig config, std::unique_ptr<Iterator> input, int64_t epoch,
             int depth)
    : runtime_(runtime),
      config_(std::move(config)),
      epoch_(epoch),
      depth_(depth),
      total_(kUnknown),
      counters_(runtime.recorder.add_stage(facts_of(config_, depth))),
      op_names_(names_of(config_.ops)),
      input_(std::move(input)),
      large_(runtime),
      queue_(runtime, queue_of(config_, dynamic_cast<StageIterator*>(input_.get()) == nullptr),
             *counters_) {
  input_->save(queue_.position());
}

// Workers hold references, so none is inside.
Stage::~Stage() {
  MutexLock lock(input_mu_);
  if (open_) queue_.abandon(*open_);
}

void Stage::start() {
  if (!started_.exchange(true)) runtime_.pool.work.notify_one();
}

void Stage::stop() {
  stopped_ = true;
  std::unique_ptr<Iterator> upstream;  // ends outside of the lock
  MutexLock lock(input_mu_);
  upstream = std::move(input_);
}

// ---- downstream ----

Poll Stage::pop(Element& out) {
  if (!started_.load(std::memory_order_relaxed)) start();
  const int64_t awaited = queue_.awaited();
  const Poll poll = queue_.pop(out);
  // A large sample's turn may have come, where a slot was emptied; without that nothing changed,
  // and waking workers for nothing would keep the cores from the one that decodes.
  if (queue_.awaited() != awaited && large_.any_waiting()) runtime_.pool.work.notify_one();
  return poll;
}

void Stage::restore(CursorReader& cursor) {
  MutexLock lock(input_mu_);
  ordinal_ = queue_.restore(cursor);
  if (indexed_ && total_ != kInfinite && ordinal_ >= total_) {
    input_ended_ = true;
    queue_.end();
  }
  if (!input_) return;
  CursorReader nested(queue_.position());
  input_->restore(nested);
}

std::string Stage::state() const {
  const int64_t outstanding = queue_.outstanding();
  std::string why;
  if (inside_ > 0) {
    why = fmt::format("{} workers busy", inside_.load());
  } else if (queue_.ended()) {
    why = "input has ended";
  } else if (outstanding >= counters_->queue_capacity && outstanding > 0) {
    why = "waiting for room downstream";
  } else {
    why = "waiting for input";
  }
  return fmt::format("queue: {} ready of {} begun (room for {}); {} elements in, {} out; {}",
                     queue_.ready(), outstanding, counters_->queue_capacity.load(),
                     counters_->elements_in.load(), counters_->elements_out.load(), why);
}

// ---- the worker that pulls ----

bool Stage::try_work(Worker& worker) {
  if (large_.any_waiting() && go_on_with_large(worker)) return true;
  if (!started_ || queue_.ended() || stopped_ || !input_mu_.try_lock()) return false;
  Work work;
  bool claimed = false;
  try {
    claimed = claim(worker, work);
  } catch (...) {  // no memory even for bookkeeping
    queue_.end(std::current_exception());
    stopped_ = true;
    announce();
  }
  input_mu_.unlock();
  if (!claimed) return false;
  execute(worker, work);
  return true;
}

bool Stage::claim(Worker& worker, Work& work) {
  if (input_ended_ || stopped_) return false;
  if (config_.max_workers && inside_ >= *config_.max_workers) return false;
  if (!open_ && !open_slot()) return false;
  OutputSlot& slot = *open_;
  const int64_t room = batches() ? config_.batch_size - slot.assigned : kMaxChunk;
  std::exception_ptr error;
  const int64_t got = pull(worker, std::min(chunk_size(), room), error);
  if (got == 0 && !input_ended_) {
    counters_->waits_for_input.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (got == 0 && slot.assigned == 0 && !error) {  // the input ended right behind the last slot
    queue_.abandon(slot);
    open_ = nullptr;
    queue_.end();
    announce();
    return false;
  }
  work = {&slot, slot.assigned, got, ordinal_};
  slot.assigned += got;
  ordinal_ += got;
  slot.pending.fetch_add(got);
  inside_.fetch_add(1);
  if (!batches()) slot.outcomes.resize(slot.assigned);
  if (error) slot.fail(slot.assigned, error);
  if (!batches() || slot.assigned == config_.batch_size || input_ended_) close_slot();
  if (input_ended_) {
    queue_.end();
    announce();
  }
  // There may be more work, for a worker that came while this one was in here.
  runtime_.pool.work.notify_one();
  return true;
}

bool Stage::open_slot() {
  open_ = queue_.open();
  if (!open_) return false;
  if (batches()) {
    const bool finite = indexed_ && total_ != kInfinite;
    const int64_t rows =
        finite ? std::min(config_.batch_size, total_ - ordinal_) : config_.batch_size;
    open_->builder.start(rows, ordinal_);
  }
  return true;
}

void Stage::close_slot() {
  OutputSlot& slot = *std::exchange(open_, nullptr);
  slot.after.clear();
  if (input_) input_->save(slot.after);
  slot.ordinal_after = ordinal_;
  slot.remainder = batches() && config_.drop_remainder && slot.assigned < config_.batch_size;
  if (queue_.close(slot, !stopped_)) announce();
}

int64_t Stage::pull(Worker& worker, int64_t want, std::exception_ptr& error) {
  if (indexed_) {
    const int64_t got = total_ == kInfinite ? want : std::min(want, total_ - ordinal_);
    if (total_ != kInfinite && ordinal_ + got >= total_) input_ended_ = true;
    return got;
  }
  static const std::string kPulling = "reading the next element";
  if (static_cast<int64_t>(worker.inputs.size()) < want) worker.inputs.resize(want);
  TimedWork timed(worker, config_.name);
  worker.activity.set_op(&kPulling);
  int64_t got = 0;
  while (got < want && !input_ended_) {
    Worker::Input& input = worker.inputs[got];
    input.error = nullptr;
    try {
      const Poll poll = input_->next(input.element);
      if (poll == Poll::kPending) break;
      if (poll == Poll::kEnd) input_ended_ = true;
      got += poll == Poll::kElement;
    } catch (const SampleError&) {
      if (runtime_.skips_errors() && config_.may_drop) {
        input.error = std::current_exception();
        ++got;
      } else {
        error = std::current_exception(), input_ended_ = true;
      }
    } catch (...) {
      error = std::current_exception(), input_ended_ = true;
    }
  }
  timed.end(counters_->input_ns);
  return got;
}

int64_t Stage::chunk_size() const {
  // One, so that a position can name the outputs given out early.
  if (!config_.ordered && !batches()) return 1;
  const int64_t each = sample_ns_.load(std::memory_order_relaxed);
  return each == 0 ? 1 : std::clamp<int64_t>(kChunkNs / each, 1, kMaxChunk);
}

// ---- all workers ----

void Stage::execute(Worker& worker, const Work& work) {
  TimedWork busy(worker, config_.name);
  const bool expensive = sample_ns_.load(std::memory_order_relaxed) > kTimeEveryNs;
  int64_t put_aside = 0;
  SampleContext context{runtime_.seed(), epoch_, work.ordinal, nullptr, &runtime_.ram};
  for (int64_t i = 0; i < work.count; ++i) {
    if (stopped_.load(std::memory_order_relaxed)) break;
    const bool timed = expensive || (i == 0 && work.ordinal % 16 == 0);
    SampleTask task{
        .slot = work.slot, .row = work.row + i, .ordinal = work.ordinal + i, .timed = timed};
    Element& sample = element_of(worker, task);
    if (!fetch(worker, i, task, context, sample)) continue;
    put_aside += !apply(worker, task, context, sample);
  }
  const int64_t spent = busy.end(counters_->busy_ns);
  counters_->elements_in.fetch_add(work.count, std::memory_order_relaxed);
  if (work.count > 0) {
    const int64_t each = spent / work.count + 1;
    const int64_t before = sample_ns_.load(std::memory_order_relaxed);
    sample_ns_.store(before == 0 ? each : (7 * before + each) / 8, std::memory_order_relaxed);
  }
  inside_.fetch_sub(1);
  if (queue_.complete(*work.slot, work.count - put_aside, !stopped_)) announce();
  if (config_.max_workers) runtime_.pool.work.notify_one();
}

// A sample that was put aside, if there is room for it now.
bool Stage::go_on_with_large(Worker& worker) {
  if (stopped_ || (config_.max_workers && inside_ >= *config_.max_workers)) return false;
  auto next = large_.take_up(queue_.awaited());
  if (!next) return false;
  inside_.fetch_add(1);
  OutputSlot& slot = *next->task.slot;
  Element& sample = element_of(worker, next->task);
  sample = std::move(next->sample);
  TimedWork busy(worker, config_.name);
  SampleContext context{runtime_.seed(), epoch_, next->task.ordinal, nullptr, &runtime_.ram};
  const bool done = apply(worker, next->task, context, sample);
  busy.end(counters_->busy_ns);
  inside_.fetch_sub(1);
  if (done && queue_.complete(slot, 1, !stopped_)) announce();
  return true;
}

// For a scalar, calls are most of the cost, so there are few: these two are inline, and the
// operators run in apply() itself.

// Where a sample lies while operators work on it.
inline Element& Stage::element_of(Worker& worker, const SampleTask& task) const {
  return batches() ? worker.sample : task.slot->outcomes[task.row].element;
}

// Gets the sample from the input: the task's, the i-th of this work. False if it is bad: then its
// slot knows.
inline bool Stage::fetch(Worker& worker, int64_t i, SampleTask& task, SampleContext& context,
                         Element& sample) {
  context.ordinal = task.ordinal;
  context.row = nullptr;
  context.granted_bytes.reset();
  if (indexed_) {
    try {
      sample.clear();
      indexed_->at(task.ordinal, epoch_, context, sample);
    } catch (...) {
      fail(task, sample, std::current_exception());
      return false;
    }
  } else {
    sample = std::move(worker.inputs[i].element);
    if (worker.inputs[i].error) {
      fail(task, sample, worker.inputs[i].error);
      return false;
    }
  }
  return true;
}

// Runs the remaining operators on the sample and puts the result into its slot. False if it was put
// aside, to wait for room.
bool Stage::apply(Worker& worker, SampleTask& task, SampleContext& context, Element& sample) {
  if (sample.origin_file()) worker.activity.set_file(sample.origin_file());
  const size_t ops = config_.ops.size();
  const BatchRow row{&task.slot->builder, task.row};
  size_t i = task.op;
  for (;;) {
    try {
      context.granted_bytes = task.granted_bytes;
      bool kept = true;
      for (; i < ops && kept; ++i) {
        worker.activity.set_op(&op_names_[i]);
        context.row = batches() && i + 1 == ops ? &row : nullptr;
        const int64_t start = task.timed ? now_ns() : 0;
        kept = config_.ops[i]->apply(sample, context);
        if (task.timed) {
          counters_->ops[i].busy_ns.fetch_add(now_ns() - start, std::memory_order_relaxed);
          counters_->ops[i].timed.fetch_add(1, std::memory_order_relaxed);
        }
      }
      if (batches()) {
        task.slot->builder.put(task.row, sample);
        if (queue_.slot_bytes() == 0) {  // from the first sample on, slots reserve what they need
          const int64_t rows =
              total_ > 0 ? std::min(config_.batch_size, total_) : config_.batch_size;
          if (queue_.expect_bytes(*task.slot, sample.size_bytes() * rows)) {
            runtime_.pool.work.notify_one();
          }
        }
      } else {
        Outcome& outcome = task.slot->outcomes[task.row];
        outcome.fate = kept ? Outcome::Fate::kKept : Outcome::Fate::kDropped;
        outcome.error = nullptr;
      }
      if (task.granted_bytes > 0) settle(task, sample);
      return true;
    } catch (const NeedsRoom& wanted) {
      task.op = i;  // where it goes on
      if (!large_.grant(task, wanted.bytes, queue_.awaited())) {
        large_.put_aside({task, std::move(sample), wanted.bytes});
        return false;
      }
    } catch (...) {
      fail(task, sample,
           i < ops ? located_if_possible(op_names_[i], sample) : std::current_exception());
      return true;
    }
  }
}

void Stage::fail(SampleTask& task, Element& sample, const std::exception_ptr& error) {
  if (task.granted_bytes > 0) settle(task, sample);
  if (batches()) {
    task.slot->fail(task.row, error);
    return;
  }
  sample.clear();
  Outcome& outcome = task.slot->outcomes[task.row];
  outcome.fate = Outcome::Fate::kFailed;
  outcome.error = error;
}

void Stage::settle(SampleTask& task, const Element& sample) {
  large_.settle(task, batches() ? 0 : sample.size_bytes());
}

// An output is ready, or the end is reached.
void Stage::announce() {
  if (depth_ == 0) {
    runtime_.pool.output.notify_one();
  } else {
    runtime_.pool.work.notify_one();
  }
}

StageIterator::StageIterator(Runtime& runtime, std::shared_ptr<Stage> stage)
    : runtime_(runtime), stage_(std::move(stage)) {
  runtime_.pool.add(stage_);
}

StageIterator::~StageIterator() {
  stage_->stop();
  runtime_.pool.remove(stage_.get());
}

}  // namespace headway
