#include "headway/core/thread_limit.h"

#include <dirent.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <mutex>
#include <optional>
#include <vector>

#include "headway/core/cgroup.h"
#include "headway/core/error.h"

namespace headway {
namespace {

constexpr int64_t kMB = 1 << 20;
constexpr const char* kRaiseAddresses =
    "raise it: ulimit -v unlimited (a memory cgroup limits real memory, not addresses)";

// One limit: how much of it would be needed, and what to do about it.
struct Limit {
  std::string text;
  std::string remedy;
  double load = 0;  // wanted in all, as a share of the limit: above 1 it is in the way
};

// A field of /proc/<process>/status, a number.
std::optional<int64_t> status_field(const std::string& process, std::string_view field) {
  std::ifstream in("/proc/" + process + "/status");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(field)) continue;
    const size_t digit = line.find_first_of("0123456789", field.size());
    int64_t value = 0;
    if (digit == std::string::npos) return std::nullopt;
    std::from_chars(line.data() + digit, line.data() + line.size(), value);
    return value;
  }
  return std::nullopt;
}

// Processes and threads of this user: what ulimit -u counts.
int64_t tasks_of_user() {
  int64_t tasks = 0;
  DIR* folder = ::opendir("/proc");
  if (!folder) return 0;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string name = entry->d_name;
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (status_field(name, "Uid:") == int64_t{::getuid()})
      tasks += status_field(name, "Threads:").value_or(0);
  }
  ::closedir(folder);
  return tasks;
}

std::optional<rlim_t> soft_limit(__rlimit_resource which) {
  rlimit limit;
  if (::getrlimit(which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

int64_t addresses_taken() { return status_field("self", "VmSize:").value_or(0) * 1024; }

void add_process_limit(std::vector<Limit>& found, int missing) {
  const auto limit = soft_limit(RLIMIT_NPROC);
  if (!limit) return;
  const int64_t now = tasks_of_user();
  found.push_back({fmt::format("ulimit -u is {}, and {} processes and threads of user {} are there",
                               *limit, now, ::getuid()),
                   fmt::format("raise it: ulimit -u {}", now + missing + 1000),
                   double(now + missing) / double(std::max<rlim_t>(1, *limit))});
}

void add_address_limit(std::vector<Limit>& found, int missing) {
  const auto limit = soft_limit(RLIMIT_AS);
  if (!limit) return;
  const int64_t now = addresses_taken();
  const auto stack = static_cast<int64_t>(soft_limit(RLIMIT_STACK).value_or(8 * kMB));
  found.push_back(
      {fmt::format("ulimit -v is {} MB, {} MB of addresses are taken, and each thread wants {} MB "
                   "for its stack",
                   *limit / kMB, now / kMB, stack / kMB),
       kRaiseAddresses, double(now + missing * stack) / double(std::max<rlim_t>(1, *limit))});
}

void add_cgroup_limits(std::vector<Limit>& found, int missing) {
  const auto number = [](const std::string& path) -> std::optional<int64_t> {
    int64_t value = 0;
    if (std::ifstream in(path); in >> value) return value;
    return std::nullopt;  // not there, or "max"
  };
  const auto look = [&](const std::string& folder) {
    const auto most = number(folder + "/pids.max"), now = number(folder + "/pids.current");
    if (!most || !now) return;
    found.push_back({fmt::format("the cgroup allows {} processes and threads ({}/pids.max), and {} "
                                 "are there",
                                 *most, folder, *now),
                     "raise pids.max (docker: --pids-limit; Slurm, systemd: TasksMax)",
                     double(*now + missing) / double(std::max<int64_t>(1, *most))});
  };
  for (const std::string& group : cgroup_lineage("", "")) look("/sys/fs/cgroup" + group);
  for (const std::string& group : cgroup_lineage("", "pids")) look("/sys/fs/cgroup/pids" + group);
}

std::vector<Limit> limits(int missing) {
  std::vector<Limit> found;
  add_process_limit(found, missing);
  add_address_limit(found, missing);
  add_cgroup_limits(found, missing);
  std::sort(found.begin(), found.end(),
            [](const Limit& a, const Limit& b) { return a.load > b.load; });
  return found;
}

// Threads that wait until all are there, or until one could not be started.
class Rehearsal {
 public:
  // How many of `count` could be started at once, and the error of the one that could not.
  struct Result {
    int started = 0;
    int error = 0;
  };
  Result run(int count) {
    std::vector<pthread_t> threads;
    Result result;
    for (; result.started < count; ++result.started) {
      pthread_t thread;
      result.error = ::pthread_create(&thread, nullptr, &Rehearsal::wait, this);
      if (result.error != 0) break;
      threads.push_back(thread);
    }
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    for (const pthread_t thread : threads) ::pthread_join(thread, nullptr);
    return result;
  }

 private:
  static void* wait(void* self) {
    auto& me = *static_cast<Rehearsal*>(self);
    std::unique_lock lock(me.mutex_);
    me.changed_.wait(lock, [&] { return me.over_; });
    return nullptr;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
};

}  // namespace

void require_addresses(int64_t bytes, const std::string& purpose) {
  const auto limit = soft_limit(RLIMIT_AS);
  if (!limit) return;
  const int64_t taken = addresses_taken();
  if (*limit >= static_cast<rlim_t>(taken + bytes)) return;
  throw Error(fmt::format("{} needs {} MB of address space, but the limit (ulimit -v) is {} MB, of "
                          "which {} MB are already used",
                          purpose, bytes / kMB, *limit / kMB, taken / kMB),
              kRaiseAddresses);
}

std::string thread_limits(int missing) {
  std::string text;
  for (const Limit& limit : limits(missing)) text += (text.empty() ? "" : "; ") + limit.text;
  return text.empty() ? "no limit is set for this process or its cgroup" : text;
}

void require_threads(int count, const std::string& purpose) {
  const Rehearsal::Result got = Rehearsal().run(count);
  if (got.error == 0) return;
  const std::vector<Limit> found = limits(count - got.started);
  const bool clear = !found.empty() && found[0].load > 1;
  throw Error(fmt::format("{} needs {} threads, and only {} can be started: {}", purpose, count,
                          got.started,
                          clear ? found[0].text
                                : fmt::format("{}; {}", std::strerror(got.error),
                                              thread_limits(count - got.started))),
              clear ? found[0].remedy : "raise the limit on threads, or ask for fewer threads");
}

}  // namespace headway
