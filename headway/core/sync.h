#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

// clang checks at compile time that what is GUARDED_BY a mutex is touched with the mutex held.
#if defined(__clang__)
#define HEADWAY_TSA(x) __attribute__((x))
#else
#define HEADWAY_TSA(x)
#endif
#define CAPABILITY(x) HEADWAY_TSA(capability(x))
#define SCOPED_CAPABILITY HEADWAY_TSA(scoped_lockable)
#define GUARDED_BY(x) HEADWAY_TSA(guarded_by(x))
#define REQUIRES(...) HEADWAY_TSA(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) HEADWAY_TSA(locks_excluded(__VA_ARGS__))
#define ACQUIRE(...) HEADWAY_TSA(acquire_capability(__VA_ARGS__))
#define RELEASE(...) HEADWAY_TSA(release_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) HEADWAY_TSA(try_acquire_capability(__VA_ARGS__))
#define NO_THREAD_SAFETY_ANALYSIS HEADWAY_TSA(no_thread_safety_analysis)

namespace headway {

class CAPABILITY("mutex") Mutex {
 public:
  void lock() ACQUIRE() { mu_.lock(); }
  void unlock() RELEASE() { mu_.unlock(); }
  bool try_lock() TRY_ACQUIRE(true) { return mu_.try_lock(); }

 private:
  friend class CondVar;
  std::mutex mu_;
};

class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mu) ACQUIRE(mu) : mu_(mu) { mu_.lock(); }
  ~MutexLock() RELEASE() { mu_.unlock(); }
  MutexLock(const MutexLock&) = delete;

 private:
  Mutex& mu_;
};

class CondVar {
 public:
  void notify_one() { cv_.notify_one(); }
  void notify_all() { cv_.notify_all(); }
  // Waits until notified or the time is over (spurious wake-ups happen): call it in a loop.
  void wait_for(Mutex& mu, std::chrono::nanoseconds limit) REQUIRES(mu) {
    std::unique_lock lock(mu.mu_, std::adopt_lock);
    cv_.wait_for(lock, limit);
    lock.release();
  }

 private:
  std::condition_variable cv_;
};

}  // namespace headway
