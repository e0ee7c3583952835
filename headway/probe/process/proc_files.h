#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace headway {

// One line of /proc/PID/stat or /proc/PID/task/TID/stat.
struct TaskStat {
  std::string name{};
  char state = '?';
  pid_t parent = 0;
  double cpu_s = 0;
  double reaped_s = 0;  // CPU time of its children that ended, and of theirs
  int64_t threads = 0, rss_bytes = 0;
  double started_s = 0;        // after boot
  uint64_t started_ticks = 0;  // in ticks of the kernel; identifies a process together with the PID
  bool of_the_kernel = false;  // a thread of the kernel's own

  bool alive() const { return state != '?' && state != 'Z' && state != 'X'; }
};

// Empty, or with state '?', if it cannot be read.
std::string file_text(const std::string& path, size_t limit = 8192);
TaskStat parse_stat(const std::string& text);
TaskStat stat_of(pid_t pid);
// The value of a line in /proc/PID/status: "Uid" -> "0\t0\t0\t0"; empty: no such line.
std::string status_field(const std::string& status, const std::string& name);
std::vector<pid_t> numbers_in(const std::string& folder);  // of a directory of numbers
std::vector<pid_t> threads_of(const std::string& folder);  // the oldest, if there are very many

// Counters of all threads of a process, read repeatedly with files kept open.
class ThreadCounters {
 public:
  explicit ThreadCounters(pid_t pid, std::string proc = "/proc")
      : pid_(pid), proc_(std::move(proc)) {}
  ~ThreadCounters();
  ThreadCounters(const ThreadCounters&) = delete;

  struct Thread {
    pid_t tid = 0;
    std::string name{};
    char state = '?';
    double cpu_s = 0, ready_s = 0;  // on a core; ready, but without one
  };
  std::vector<Thread> read();

 private:
  struct Files {
    int stat = -1, schedstat = -1;
    bool seen = false;
  };
  void close_all(Files& files);

  pid_t pid_;
  std::string proc_;
  std::map<pid_t, Files> files_;
};

// The command line of a process, word by word; empty for a zombie.
std::vector<std::string> command_line(pid_t pid);
// The process and all its descendants, itself first. At most `limit`.
std::vector<pid_t> process_tree(pid_t root, size_t limit = 300);
// The number of a thread in the process's own PID namespace (NSpid).
pid_t number_inside(pid_t pid, pid_t tid);

}  // namespace headway
