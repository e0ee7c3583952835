#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "headway/core/descriptor.h"
#include "headway/probe/native/native_stack.h"
#include "headway/probe/random_factor.h"

namespace headway {

// A hit: what a thread was doing on a core at one moment.
struct CpuSample {
  pid_t pid = 0, tid = 0;
  NativeRegisters registers{};  // of user code; none if only the kernel ran
  StackCopy stack{};
};

// Hits of what runs on the cores, by the kernel's clock (perf_event_open): nothing is stopped and
// no hardware counters are needed. With sufficient rights it sees all processes of the machine,
// else the threads it was told to follow and those they start. Not for several threads.
class CpuSampler {
 public:
  // nullptr if the kernel refuses; `why_not` then says how to allow it. `hertz`: per core.
  static std::unique_ptr<CpuSampler> open(double hertz, std::string& why_not);
  ~CpuSampler();
  CpuSampler(const CpuSampler&) = delete;

  bool sees_all() const { return sees_all_; }
  // If not all threads are seen: follow those of this process from now on. Threads that they start
  // later are included. False: there are too many, and none is followed.
  bool follow(pid_t process);
  // All hits in this process since the last call. lost() counts those that did not fit into the
  // ring, of any process.
  void read(pid_t pid, const std::function<void(const CpuSample&)>& take);
  int64_t lost() const { return lost_; }

 private:
  struct Ring {
    Descriptor event;
    int core = 0;
    char* memory = nullptr;
  };
  CpuSampler(double hertz, uint64_t seed) : period_ns_(1e9 / hertz), jitter_(seed) {}
  bool open_ring(size_t cpu, pid_t thread);
  Descriptor open_follower(pid_t thread, const Ring& ring) const;
  bool read_ring(Ring& ring, pid_t pid, const std::function<void(const CpuSample&)>& take);
  void take_record(const std::string& record, const std::function<void(const CpuSample&)>& take);

  const double period_ns_;
  RandomFactor jitter_;  // a fixed period could fall into step with the program's loop
  bool sees_all_ = false, kernel_too_ = true;
  std::vector<Ring> rings_;            // by core
  std::vector<Descriptor> followers_;  // events of threads that write into these rings
  int64_t lost_ = 0;
};

}  // namespace headway
