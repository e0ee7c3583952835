#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace headway {

// What a process may really use: the machine, cut by CPU affinity and by every cgroup (v1 or v2)
// that holds the process.
struct Limits {
  double cpus = 1;           // cores' worth of CPU time; a quota may make it fractional
  int64_t memory_bytes = 0;  // what may still be taken: the least of the machine's available memory
                             // and what the cgroup leaves
  std::string cpu_source;    // "2 cores", "cgroup quota 1.5 of 8 cores"
  bool cpu_quota = false;    // a quota makes it less than the cores there are
};

// `root` stands for "/" and lets tests bring their own /proc and /sys; `process` is a number.
Limits read_limits(const std::string& root = "", const std::string& process = "self");
int64_t available_memory(const std::string& root, const std::string& process);  // that alone
// The least limit of the cgroups that hold the process; 0: there is none.
int64_t memory_limit(const std::string& root, const std::string& process);

// What a feed should leave to the threads that give a GPU its orders: on 16 cores ResNet-50 stepped
// 1.4 times faster beside 12 busy workers than beside as many as there are.
inline int cores_beside_gpu(double cpus) { return std::max(2, static_cast<int>(cpus) / 4); }

}  // namespace headway
