#include "headway/trace/system_reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "headway/core/cgroup.h"
#include "headway/core/clock.h"
#include "headway/core/limits.h"

namespace headway {
namespace {

constexpr int64_t kAvailableEveryNs = 1'000'000'000;

// These files are read several times a second, so without streams.
std::string contents(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "";
  char buffer[8192];
  const ssize_t got = ::read(fd, buffer, sizeof buffer);
  ::close(fd);
  return std::string(buffer, got > 0 ? static_cast<size_t>(got) : 0);
}

// The number after `key` at the beginning of a line or after a space; 0 if there is none.
double value_of(std::string_view text, std::string_view key) {
  for (size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    if (at > 0 && text[at - 1] != '\n' && text[at - 1] != ' ') continue;
    return std::strtod(text.data() + at + key.size(), nullptr);
  }
  return 0;
}

// The cpu.stat of the nearest ancestor group that has a quota: it counts throttled periods.
std::string find_quota_file(const std::string& root, const std::string& process) {
  const auto search = [&](const char* mount, const char* controller) -> std::string {
    for (const std::string& group : cgroup_lineage(root, controller, process)) {
      const std::string file = root + mount + group + "/cpu.stat";
      if (value_of(contents(file), "nr_periods ") > 0) return file;
    }
    return "";
  };
  for (const auto& [mount, controller] : {std::pair{"/sys/fs/cgroup", ""},
                                          {"/sys/fs/cgroup/unified", ""},
                                          {"/sys/fs/cgroup/cpu", "cpu"},
                                          {"/sys/fs/cgroup/cpu,cpuacct", "cpu"}}) {
    if (std::string file = search(mount, controller); !file.empty()) return file;
  }
  return "";
}

}  // namespace

SystemReader::SystemReader(std::string root, std::string process)
    : root_(std::move(root)),
      process_(std::move(process)),
      proc_(root_ + "/proc/" + process_),
      quota_file_(find_quota_file(root_, process_)) {}

SystemReading SystemReader::sample() {
  SystemReading out;
  read_stat(out);
  read_memory(out);
  read_io(out);
  read_idle(out);
  read_pressure(out);
  read_quota(out);
  out.run_queue_wait_s = run_queue_wait_s();
  return out;
}

void SystemReader::read_stat(SystemReading& out) const {
  const std::string text = contents(proc_ + "/stat");
  const size_t name_end = text.rfind(')');  // a name may contain anything
  if (name_end == std::string::npos) return;
  const char* at = text.c_str() + name_end + 1;
  while (*at == ' ') ++at;
  if (*at) ++at;           // the state
  double fields[25] = {};  // as numbered in proc(5), from 4 on
  for (int i = 4; i <= 24; ++i) {
    char* end = nullptr;
    fields[i] = std::strtod(at, &end);
    at = end;
  }
  static const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  out.major_faults = static_cast<int64_t>(fields[12]);
  out.cpu_s = (fields[14] + fields[15]) / ticks;
  out.threads = static_cast<int64_t>(fields[20]);
  out.rss_bytes = static_cast<int64_t>(fields[24]) * sysconf(_SC_PAGESIZE);
}

void SystemReader::read_memory(SystemReading& out) {
  const std::string status = contents(proc_ + "/status");
  out.swap_bytes = static_cast<int64_t>(value_of(status, "VmSwap:")) << 10;
  out.writable_bytes = static_cast<int64_t>(value_of(status, "VmData:")) << 10;
  if (const int64_t now = now_ns(); now >= available_next_ns_) {
    available_bytes_ =
        available_memory(root_, process_);  // reads a dozen files: more expensive than all the rest
    available_next_ns_ = now + kAvailableEveryNs;
  }
  out.available_bytes = available_bytes_;
}

void SystemReader::read_io(SystemReading& out) const {
  const std::string text = contents(proc_ + "/io");
  out.read_bytes = static_cast<int64_t>(value_of(text, "rchar:"));
  out.read_calls = static_cast<int64_t>(value_of(text, "syscr:"));
  out.disk_bytes = static_cast<int64_t>(value_of(text, "read_bytes:"));
}

void SystemReader::read_idle(SystemReading& out) const {
  // "cpu  user nice system idle iowait ...", in ticks
  const std::string all = contents(root_ + "/proc/stat");
  if (all.starts_with("cpu ")) {
    const char* at = all.c_str() + 4;
    double ticks[5] = {};
    for (double& field : ticks) {
      char* end = nullptr;
      field = std::strtod(at, &end);
      at = end;
    }
    out.idle_s = (ticks[3] + ticks[4]) / double(sysconf(_SC_CLK_TCK));
  }
}

// "some avg10=3.46 avg60=3.74 avg300=2.31 total=7002674487", in microseconds
void SystemReader::read_pressure(SystemReading& out) const {
  const auto total = [](std::string_view text, std::string_view kind) {
    const size_t line = text.find(kind);
    return line == std::string_view::npos ? 0 : 1e-6 * value_of(text.substr(line), "total=");
  };
  const std::string cpu = contents(root_ + "/proc/pressure/cpu");
  const std::string io = contents(root_ + "/proc/pressure/io");
  const std::string memory = contents(root_ + "/proc/pressure/memory");
  out.cpu_some_s = total(cpu, "some");
  out.io_some_s = total(io, "some");
  out.io_full_s = total(io, "full");
  out.memory_some_s = total(memory, "some");
  out.memory_full_s = total(memory, "full");
}

void SystemReader::read_quota(SystemReading& out) const {
  if (quota_file_.empty()) return;
  const std::string text = contents(quota_file_);
  out.quota_periods = static_cast<int64_t>(value_of(text, "nr_periods "));
  out.throttled_count = static_cast<int64_t>(value_of(text, "nr_throttled "));
  out.throttled_s =  // only one exists: version 2 in microseconds, version 1 in nanoseconds
      1e-6 * value_of(text, "throttled_usec ") + 1e-9 * value_of(text, "throttled_time ");
}

// The second number in each thread's schedstat. Waits of ended threads stay counted.
double SystemReader::run_queue_wait_s() {
  const std::string folder = proc_ + "/task";
  const std::unique_ptr<DIR, int (*)(DIR*)> threads(::opendir(folder.c_str()), ::closedir);
  if (!threads) return 0;
  std::map<std::string, double> now;
  while (const dirent* thread = ::readdir(threads.get())) {
    if (thread->d_name[0] == '.') continue;
    const std::string text = contents(folder + "/" + thread->d_name + "/schedstat");
    char* rest = nullptr;
    std::strtod(text.c_str(), &rest);
    now[thread->d_name] = std::strtod(rest, nullptr);
  }
  double gone = 0;
  for (const auto& [thread, ns] : waiting_)
    if (!now.count(thread)) gone += ns;
  if (gone > 0) now[""] += gone;
  waiting_ = std::move(now);
  double total = 0;
  for (const auto& [thread, ns] : waiting_) total += ns;
  return 1e-9 * total;
}

}  // namespace headway
