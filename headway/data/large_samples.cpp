#include "headway/data/large_samples.h"

namespace headway {

bool LargeSamples::grant(SampleTask& task, int64_t bytes, int64_t awaited_slot) {
  if (task.granted_bytes > 0) {
    runtime_.ram.release(task.granted_bytes);
    granted_.fetch_sub(1);
    task.granted_bytes = 0;
  }
  const bool alone = granted_.fetch_add(1) == 0;
  const bool awaited = task.slot->sequence == awaited_slot;
  if (runtime_.ram.reserve(bytes, alone && awaited)) {
    task.granted_bytes = bytes;
    return true;
  }
  granted_.fetch_sub(1);
  return false;
}

void LargeSamples::settle(SampleTask& task, int64_t kept_bytes) {
  runtime_.ram.reserve(kept_bytes - task.granted_bytes, true);
  task.slot->reserved_bytes.fetch_add(kept_bytes);
  granted_.fetch_sub(1);
  if (any_waiting()) runtime_.pool.work.notify_one();
}

void LargeSamples::put_aside(Waiting waiting) {
  MutexLock lock(mu_);
  waiting_[{waiting.task.slot->sequence, waiting.task.row}] = std::move(waiting);
  waiting_count_.fetch_add(1);
}

std::optional<LargeSamples::Waiting> LargeSamples::take_up(int64_t awaited_slot) {
  MutexLock lock(mu_);
  const auto first = waiting_.begin();
  if (first == waiting_.end()) return {};
  if (!grant(first->second.task, first->second.wanted_bytes, awaited_slot)) return {};
  Waiting next = std::move(first->second);
  waiting_.erase(first);
  waiting_count_.fetch_sub(1);
  return next;
}

}  // namespace headway
