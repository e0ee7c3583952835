// How a stage's samples come by room in the RAM budget: granted, put aside, taken up again.
#include <utility>

#include "headway/data/stage.h"

namespace headway {

// Takes `bytes` of the budget for a sample instead of what it had. The first that downstream waits
// for gets them in any case, unless another is at work on such a grant and will end.
bool Stage::grant(Task& task, int64_t bytes) {
  if (task.granted_bytes > 0) {
    run_.ram.release(task.granted_bytes);
    granted_.fetch_sub(1);
    task.granted_bytes = 0;
  }
  const bool alone = granted_.fetch_add(1) == 0;
  const bool awaited = task.slot->sequence == retired_.load();
  if (run_.ram.reserve(bytes, alone && awaited)) {
    task.granted_bytes = bytes;
    return true;
  }
  granted_.fetch_sub(1);
  return false;
}

// False: the sample is not done with.
bool Stage::put_aside(Task& task, int64_t bytes, Element& sample) {
  MutexLock lock(waiting_mu_);
  task.granted_bytes = bytes;
  waiting_[{task.slot->sequence, task.row}] = {task, std::move(sample)};
  waiting_count_.fetch_add(1);
  return false;
}

// What a sample at work was granted becomes what its result takes in the slot.
void Stage::settle(Task& task, const Element& sample) {
  const int64_t kept = batches() ? 0 : sample.size_bytes();
  run_.ram.reserve(kept - task.granted_bytes, true);
  task.slot->reserved_bytes.fetch_add(kept);
  granted_.fetch_sub(1);
  if (waiting_count_.load() > 0) run_.pool.work.notify_one();
}

// Goes on with the first of the samples that wait, if there is room for it.
bool Stage::resume(Worker& worker) {
  if (stopped_ || (config_.max_workers && inside_ >= *config_.max_workers)) return false;
  Waiting next;
  {
    MutexLock lock(waiting_mu_);
    if (waiting_.empty()) return false;
    Task& task = waiting_.begin()->second.task;
    const int64_t wanted = std::exchange(task.granted_bytes, 0);
    if (!grant(task, wanted)) {
      task.granted_bytes = wanted;
      return false;
    }
    next = std::move(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
    waiting_count_.fetch_sub(1);
  }
  inside_.fetch_add(1);
  Slot& slot = *next.task.slot;
  Element& sample = batches() ? worker.sample : slot.outcomes[next.task.row].element;
  sample = std::move(next.sample);
  const int64_t start = now_ns();
  worker.activity.begin(config_.name);
  SampleContext context{run_.seed(), epoch_, next.task.ordinal, nullptr, &run_.ram};
  const bool done = finish(worker, next.task, context, sample);
  worker.activity.end();
  const int64_t spent = now_ns() - start;
  worker.busy_ns.fetch_add(spent, std::memory_order_relaxed);
  counters_->busy_ns.fetch_add(spent, std::memory_order_relaxed);
  inside_.fetch_sub(1);
  if (done) complete(slot, 1);
  return true;
}

}  // namespace headway
