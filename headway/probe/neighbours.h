#pragma once

#include <sys/types.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "headway/trace/outside.h"

namespace headway {

// Busy and idle time of the cores that a process may use, in seconds since the machine started.
// Time that was taken by another virtual machine counts as busy.
struct CoreTimes {
  double busy_s = 0, idle_s = 0;
};
// `stat`: the text of /proc/stat; `cores`: the cores to count; empty: all.
CoreTimes core_times(const std::string& stat, const std::set<int>& cores);
// "0-3,8"
std::set<int> numbers_of_list(const std::string& list);

// Which processes beside the run use the cores. Looks rarely, and only while the cores are mostly
// busy. Not for several threads.
class Neighbours {
 public:
  // `proc` lets tests pass a folder of their own.
  explicit Neighbours(std::string proc = "/proc") : proc_(std::move(proc)) {}

  struct Own {
    std::set<pid_t> run{};  // the processes that are watched
    pid_t watcher = 0;
    pid_t relay = 0;  // the watcher's parent if we started the command; its children are ours
  };
  // `busy`: the share of the cores that was in use recently.
  void look(double now_s, double busy, const Own& own);
  const std::vector<SeenNeighbour>& busiest() const { return busiest_; }

 private:
  struct Used {
    double cpu_s = 0;
    uint64_t started_ticks = 0;
  };
  std::string proc_;
  std::map<pid_t, Used> before_;
  std::vector<SeenNeighbour> busiest_;
  double looked_s_ = -1, next_s_ = 0;
};

}  // namespace headway
