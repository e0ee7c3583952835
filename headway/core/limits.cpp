#include "headway/core/limits.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

#include "headway/core/cgroup.h"

namespace headway {
namespace {

std::optional<std::string> first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  return line;
}

std::optional<int64_t> number(const std::string& path) {
  const auto line = first_line(path);
  if (!line || line->empty() || line->find_first_not_of("-0123456789") != std::string::npos) {
    return std::nullopt;
  }
  return std::stoll(*line);
}

int affinity_count(const std::string& process) {
  cpu_set_t set;
  const pid_t pid = process == "self" ? 0 : static_cast<pid_t>(std::atoi(process.c_str()));
  if (sched_getaffinity(pid, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max<int>(1, sysconf(_SC_NPROCESSORS_ONLN));
}

std::optional<double> cpu_quota(const std::string& root, const std::string& process) {
  std::optional<double> least;
  const auto take = [&](double quota) { least = least ? std::min(*least, quota) : quota; };
  for (const char* mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
    for (const std::string& group : cgroup_lineage(root, "", process)) {
      const auto line = first_line(root + mount + group + "/cpu.max");
      if (!line || line->starts_with("max")) continue;
      double quota = 0, period = 0;
      if (std::stringstream(*line) >> quota >> period && period > 0) take(quota / period);
    }
  }
  for (const char* mount : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"}) {
    for (const std::string& group : cgroup_lineage(root, "cpu", process)) {
      const std::string folder = root + mount + group;
      const auto quota = number(folder + "/cpu.cfs_quota_us");
      const auto period = number(folder + "/cpu.cfs_period_us");
      if (quota && period && *quota > 0 && *period > 0) take(double(*quota) / double(*period));
    }
  }
  return least;
}

int64_t machine_available(const std::string& root) {
  std::ifstream in(root + "/proc/meminfo");
  for (std::string key, unit; in >> key;) {
    int64_t value = 0;
    in >> value;
    std::getline(in, unit);
    if (key == "MemAvailable:") return value * 1024;
  }
  return int64_t{1} << 30;
}

// File pages the kernel gives back when memory is asked for: they count as usage, but are not in
// the way.
int64_t reclaimable(const std::string& folder) {
  std::ifstream in(folder + "/memory.stat");
  int64_t plain = 0, total = -1, value = 0;
  for (std::string key; in >> key >> value;) {
    if (key == "inactive_file") plain = value;
    if (key == "total_inactive_file") total = value;  // version 1, with descendants
  }
  return total >= 0 ? total : plain;
}

// The memory groups that hold the process, each with its folder, limit and use.
template <typename Take>
void for_memory_groups(const std::string& root, const std::string& process, Take take) {
  const auto tell = [&](const std::string& folder, const char* limit_file, const char* usage_file) {
    const auto limit = number(folder + limit_file), usage = number(folder + usage_file);
    if (limit && usage && *limit < (int64_t{1} << 60)) take(folder, *limit, *usage);
  };
  for (const char* mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
    for (const std::string& group : cgroup_lineage(root, "", process)) {
      tell(root + mount + group, "/memory.max", "/memory.current");
    }
  }
  for (const std::string& group : cgroup_lineage(root, "memory", process)) {
    tell(root + "/sys/fs/cgroup/memory" + group, "/memory.limit_in_bytes",
         "/memory.usage_in_bytes");
  }
}

int64_t cgroup_headroom(const std::string& root, const std::string& process) {
  int64_t least = INT64_MAX;
  for_memory_groups(root, process, [&](const std::string& folder, int64_t limit, int64_t usage) {
    const int64_t held = std::max<int64_t>(0, usage - reclaimable(folder));
    least = std::min(least, limit - held);
  });
  return std::max<int64_t>(least, 0);
}

}  // namespace

Limits read_limits(const std::string& root, const std::string& process) {
  Limits limits;
  const int cores = affinity_count(process);
  limits.cpus = cores;
  limits.cpu_source = fmt::format("{} core{}", cores, cores == 1 ? "" : "s");
  if (const auto quota = cpu_quota(root, process); quota && *quota < cores) {
    limits.cpus = *quota;
    limits.cpu_quota = true;
    limits.cpu_source = fmt::format("cgroup quota {:.2g} of {} cores", *quota, cores);
  }
  limits.memory_bytes = available_memory(root, process);
  return limits;
}

int64_t memory_limit(const std::string& root, const std::string& process) {
  int64_t least = INT64_MAX;
  for_memory_groups(root, process, [&](const std::string&, int64_t limit, int64_t) {
    least = std::min(least, limit);
  });
  return least == INT64_MAX ? 0 : least;
}

int64_t available_memory(const std::string& root, const std::string& process) {
  return std::min(machine_available(root), cgroup_headroom(root, process));
}

}  // namespace headway
