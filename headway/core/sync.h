#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

// clang checks at compile time that what is HEADWAY_GUARDED_BY a mutex is touched with the mutex
// held.
#if defined(__clang__)
#define HEADWAY_TSA(x) __attribute__((x))
#else
#define HEADWAY_TSA(x)
#endif
#define HEADWAY_CAPABILITY(x) HEADWAY_TSA(capability(x))
#define HEADWAY_SCOPED_CAPABILITY HEADWAY_TSA(scoped_lockable)
#define HEADWAY_GUARDED_BY(x) HEADWAY_TSA(guarded_by(x))
#define HEADWAY_REQUIRES(...) HEADWAY_TSA(requires_capability(__VA_ARGS__))
#define HEADWAY_EXCLUDES(...) HEADWAY_TSA(locks_excluded(__VA_ARGS__))
#define HEADWAY_ACQUIRE(...) HEADWAY_TSA(acquire_capability(__VA_ARGS__))
#define HEADWAY_RELEASE(...) HEADWAY_TSA(release_capability(__VA_ARGS__))
#define HEADWAY_TRY_ACQUIRE(...) HEADWAY_TSA(try_acquire_capability(__VA_ARGS__))
#define HEADWAY_NO_THREAD_SAFETY_ANALYSIS HEADWAY_TSA(no_thread_safety_analysis)

namespace headway {

class HEADWAY_CAPABILITY("mutex") Mutex {
 public:
  void lock() HEADWAY_ACQUIRE() { mu_.lock(); }
  void unlock() HEADWAY_RELEASE() { mu_.unlock(); }
  bool try_lock() HEADWAY_TRY_ACQUIRE(true) { return mu_.try_lock(); }

 private:
  friend class CondVar;
  std::mutex mu_;
};

class HEADWAY_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mu) HEADWAY_ACQUIRE(mu) : mu_(mu) { mu_.lock(); }
  ~MutexLock() HEADWAY_RELEASE() { mu_.unlock(); }
  MutexLock(const MutexLock&) = delete;

 private:
  Mutex& mu_;
};

class CondVar {
 public:
  void notify_one() { cv_.notify_one(); }
  void notify_all() { cv_.notify_all(); }
  // Waits until notified or the time is over (spurious wake-ups happen): call it in a loop.
  void wait_for(Mutex& mu, std::chrono::nanoseconds limit) HEADWAY_REQUIRES(mu) {
    std::unique_lock lock(mu.mu_, std::adopt_lock);
    cv_.wait_for(lock, limit);
    lock.release();
  }

 private:
  std::condition_variable cv_;
};

}  // namespace headway
