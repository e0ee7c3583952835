#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace headway {

// What the kernel knows about one process and its cgroup. Times and counts since the process began,
// bytes as of now; 0 if the machine does not provide them.
struct SystemReading {
  double cpu_s = 0;             // all threads
  double run_queue_wait_s = 0;  // threads were ready, but no core was free
  int64_t threads = 0;
  double idle_s = 0;  // of all cores of the machine together
  int64_t rss_bytes = 0, swap_bytes = 0;
  int64_t writable_bytes = 0;   // allocated, used or not; reserved address space is not included
  int64_t available_bytes = 0;  // can still be taken, within cgroup limits; updated each second
  int64_t major_faults = 0;
  int64_t read_calls = 0, read_bytes = 0;          // by system calls; from the page cache too
  int64_t disk_bytes = 0;                          // read from a device
  double cpu_some_s = 0;                           // PSI: stalled, whole machine
  double io_some_s = 0, io_full_s = 0;             // some: at least one task, full: all
  double memory_some_s = 0, memory_full_s = 0;     //
  int64_t quota_periods = 0, throttled_count = 0;  // cgroup CPU quota
  double throttled_s = 0;
};

// Reads /proc and cgroups (v1 and v2). Not for several threads.
class SystemReader {
 public:
  // `root` stands for "/" and lets tests use a folder of their own; `process` is a pid or "self".
  explicit SystemReader(std::string root = "", std::string process = "self");

  SystemReading sample();

 private:
  void read_stat(SystemReading& out) const;
  void read_memory(SystemReading& out);
  void read_io(SystemReading& out) const;
  void read_idle(SystemReading& out) const;
  void read_pressure(SystemReading& out) const;
  void read_quota(SystemReading& out) const;
  double run_queue_wait_s();

  std::string root_, process_, proc_;
  int64_t available_bytes_ = 0, available_next_ns_ = 0;
  std::string quota_file_;                 // the cpu.stat of the nearest group with a quota
  std::map<std::string, double> waiting_;  // ns per thread, including threads that have ended
};

}  // namespace headway
