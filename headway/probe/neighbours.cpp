#include "headway/probe/neighbours.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "headway/core/clock.h"
#include "headway/probe/process/proc_files.h"
#include "headway/trace/redact.h"

namespace headway {
namespace {

constexpr double kEveryS = 2;
constexpr double kMostOfACore =
    0.002;  // on a machine with thousands of processes it looks less often
constexpr double kMostlyBusy = 0.7;
constexpr double kCounts = 0.05;  // a process that uses fewer cores is not named
constexpr size_t kMostNamed = 5, kMostProcesses = 20000;
constexpr int kMostCores = 8192;

}  // namespace

std::set<int> numbers_of_list(const std::string& list) {
  std::set<int> out;
  const char* from = list.c_str();
  for (;;) {
    char* end = nullptr;
    const long first = std::strtol(from, &end, 10);
    if (end == from) break;
    long last = first;
    if (*end == '-') last = std::strtol(end + 1, &end, 10);
    for (long core = std::max(0L, first); core <= last && core < kMostCores; ++core)
      out.insert(static_cast<int>(core));
    if (*end != ',') break;
    from = end + 1;
  }
  return out;
}

CoreTimes core_times(const std::string& stat, const std::set<int>& cores) {
  static const double ticks = double(sysconf(_SC_CLK_TCK));
  CoreTimes out;
  std::istringstream lines(stat);
  for (std::string line; std::getline(lines, line) && line.starts_with("cpu");) {
    std::istringstream words(line.substr(3));
    int core = 0;
    if (line[3] == ' ' || !(words >> core)) continue;  // the line for all cores together
    if (!cores.empty() && !cores.count(core)) continue;
    double user = 0, nice = 0, system = 0, idle = 0, disk = 0, hard = 0, soft = 0, stolen = 0;
    words >> user >> nice >> system >> idle >> disk >> hard >> soft >> stolen;
    out.busy_s += (user + nice + system + hard + soft + stolen) / ticks;
    out.idle_s += (idle + disk) / ticks;
  }
  return out;
}

void Neighbours::look(double now_s, double busy, const Own& own) {
  if (busy < kMostlyBusy) {
    busiest_.clear(), before_.clear();
    looked_s_ = -1;
    return;
  }
  if (now_s < next_s_) return;
  const int64_t began = thread_cpu_ns();
  std::map<pid_t, Used> now;
  std::vector<SeenNeighbour> found;
  const double passed = looked_s_ >= 0 ? now_s - looked_s_ : 0;
  for (const pid_t pid : numbers_in(proc_)) {
    if (now.size() >= kMostProcesses) break;
    if (pid == own.watcher || pid == own.relay || own.run.count(pid)) continue;
    const TaskStat stat = parse_stat(file_text(fmt::format("{}/{}/stat", proc_, pid), 1024));
    if (!stat.alive() || (own.relay > 0 && stat.parent == own.relay)) continue;
    now[pid] = {stat.cpu_s, stat.started_ticks};
    const auto before = before_.find(pid);
    const bool same = before != before_.end() && before->second.started_ticks == stat.started_ticks;
    if (!same || passed <= 0) continue;
    const double cores = (stat.cpu_s - before->second.cpu_s) / passed;
    if (cores < kCounts) continue;
    const std::string name = redact(stat.name);
    found.push_back({pid, stat.of_the_kernel ? "kernel thread " + name : name, cores});
  }
  std::sort(found.begin(), found.end(),
            [](const SeenNeighbour& a, const SeenNeighbour& b) { return a.cores > b.cores; });
  if (found.size() > kMostNamed) found.resize(kMostNamed);
  busiest_ = std::move(found), before_ = std::move(now);
  looked_s_ = now_s;
  next_s_ = now_s + std::max(kEveryS, 1e-9 * double(thread_cpu_ns() - began) / kMostOfACore);
}

}  // namespace headway
