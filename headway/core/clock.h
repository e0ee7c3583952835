#pragma once

#include <pthread.h>

#include <cstdint>
#include <ctime>

namespace headway {

inline int64_t read_clock_ns(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// Monotonic nanoseconds; only differences mean anything.
inline int64_t now_ns() { return read_clock_ns(CLOCK_MONOTONIC); }

// CPU time of the whole process, in nanoseconds.
inline int64_t process_cpu_ns() { return read_clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

// CPU time of the calling thread.
inline int64_t thread_cpu_ns() { return read_clock_ns(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace headway
