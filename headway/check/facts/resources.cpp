#include "headway/check/facts/resources.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "headway/core/limits.h"
#include "headway/probe/native/cpu_sampler.h"
#include "headway/probe/process/proc_files.h"
#include "headway/probe/process/thread_settings.h"

namespace headway {
namespace {

constexpr const char* kThreadVariables[] = {"OMP_NUM_THREADS",        "MKL_NUM_THREADS",
                                            "OPENBLAS_NUM_THREADS",   "NUMEXPR_NUM_THREADS",
                                            "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"};
constexpr double kSamplerHertz = 10;
constexpr uint64_t kPtraceCapability = uint64_t{1} << 19;

// "MemTotal:       24684084 kB"
int64_t meminfo(const std::string& text, const std::string& key) {
  const size_t at = text.find(key + ":");
  return at == std::string::npos
             ? 0
             : 1024 * std::strtoll(text.c_str() + at + key.size() + 1, nullptr, 10);
}

std::optional<int64_t> limit_of(int resource, bool hard = false) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return std::nullopt;
  const rlim_t value = hard ? limit.rlim_max : limit.rlim_cur;
  if (value == RLIM_INFINITY || value > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(value);
}

bool in_container(const std::string& root) {
  for (const char* mark : {"/.dockerenv", "/run/.containerenv"})
    if (::access((root + mark).c_str(), F_OK) == 0) return true;
  const std::string groups = file_text(root + "/proc/1/cgroup");
  for (const char* word : {"docker", "kubepods", "containerd", "lxc"})
    if (groups.find(word) != std::string::npos) return true;
  return false;
}

}  // namespace

CoreFacts read_cores(const std::string& root) {
  const Limits limits = read_limits(root);
  CoreFacts out{.usable = limits.cpus, .quota = limits.cpu_quota};
  out.groups_seen = !file_text(root + "/proc/self/cgroup").empty();
  out.online = std::max<int64_t>(1, ::sysconf(_SC_NPROCESSORS_ONLN));
  cpu_set_t set;
  out.allowed =
      ::sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : out.online;
  for (const char* name : kThreadVariables) {
    const char* value = std::getenv(name);
    if (!value) continue;
    const std::string entry = std::string(name) + "=" + value;
    const auto settings = settings_in_environment(entry);
    if (settings.empty() && *value != '\0') out.invalid[name] = value;
    out.settings.insert(out.settings.end(), settings.begin(), settings.end());
  }
  return out;
}

MemoryFacts read_memory(const std::string& root) {
  MemoryFacts out;
  const std::string meminfo_text = file_text(root + "/proc/meminfo");
  out.total_bytes = meminfo(meminfo_text, "MemTotal");
  out.available_bytes = available_memory(root, "self");
  out.limit_bytes = memory_limit(root, "self");
  out.swap_bytes = meminfo(meminfo_text, "SwapTotal");
  out.swap_used_bytes = out.swap_bytes - meminfo(meminfo_text, "SwapFree");
  struct statvfs shm;
  if (::statvfs((root + "/dev/shm").c_str(), &shm) == 0) {
    out.shm_bytes = static_cast<int64_t>(shm.f_blocks * shm.f_frsize);
    out.shm_free_bytes = static_cast<int64_t>(shm.f_bavail * shm.f_frsize);
  }
  out.open_files = limit_of(RLIMIT_NOFILE), out.open_files_hard = limit_of(RLIMIT_NOFILE, true);
  out.address_bytes = limit_of(RLIMIT_AS), out.processes = limit_of(RLIMIT_NPROC);
  out.container = in_container(root);
  return out;
}

PermissionFacts read_permissions() {
  PermissionFacts out;
  if (!CpuSampler::open(kSamplerHertz, out.perf_refused) && out.perf_refused.empty())
    out.perf_refused = "native code cannot be sampled";
  out.ptrace_scope = std::atoi(file_text("/proc/sys/kernel/yama/ptrace_scope", 16).c_str());
  const std::string held = status_field(file_text("/proc/self/status"), "CapEff");
  out.seen = !held.empty();
  out.may_ptrace = std::strtoull(held.c_str(), nullptr, 16) & kPtraceCapability;
  return out;
}

}  // namespace headway
