#pragma once

#include <atomic>
#include <cstdint>

#include "headway/core/sync.h"

namespace headway {

// Lets threads sleep until something has happened, without a lock around what they look at.
//
//   const uint64_t seen = events.ticket();
//   if (!look_for_work()) events.wait(seen, limit_ns);   // returns at once if something happened
//   since
//
// Notifying costs one atomic addition when nobody sleeps.
class EventCount {
 public:
  uint64_t ticket() const { return events_.load(); }

  // Wakes one sleeper: for events that one thread can deal with, or that it passes on.
  void notify_one() {
    if (announce()) changed_.notify_one();
  }
  void notify_all() {
    if (announce()) changed_.notify_all();
  }

  // Until notified, the time is over, or (rarely) for no reason.
  void wait(uint64_t ticket, int64_t limit_ns) {
    sleepers_.fetch_add(1);
    {
      MutexLock lock(mu_);
      if (events_.load() == ticket) changed_.wait_for(mu_, std::chrono::nanoseconds(limit_ns));
    }
    sleepers_.fetch_sub(1);
  }

 private:
  bool announce() {
    events_.fetch_add(1);
    if (sleepers_.load() == 0) return false;
    MutexLock lock(mu_);  // a sleeper between its check and its wait must not miss this
    return true;
  }

  alignas(64) std::atomic<uint64_t> events_{0};
  std::atomic<int> sleepers_{0};
  Mutex mu_;
  CondVar changed_;
};

}  // namespace headway
