#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headway/probe/proc_files.h"
#include "headway/probe/python_stack.h"
#include "headway/probe/python_values.h"
#include "headway/probe/source_lines.h"
#include "headway/trace/outside.h"

namespace headway {

// One process under watch: what was last read of it. Not for several threads.
class Target {
 public:
  explicit Target(pid_t pid);

  // Python's stacks of all threads, now; empty without Python or without permission.
  std::vector<PythonThread> read_stacks(double now_s);
  // What a thread waits for; empty: nothing. `tid` as Python names it.
  std::string wait_of(pid_t tid) const;
  // Process and thread counters; false once it is gone or a zombie.
  bool read_counters(double now_s);
  // The helpful variables of a stack's frames, the user's first.
  std::vector<SeenValue> read_values(const PythonThread& thread);

  bool has_python() const { return stacks_ != nullptr; }
  pid_t pid() const { return pid_; }
  bool is_main_thread(pid_t tid) const;

  SeenProcess seen{};
  SourceLines sources;
  std::vector<ThreadCounters::Thread> threads{};
  std::map<pid_t, double> thread_cores{};  // of late
  double cpu_s = 0, ready_s = 0;           // all threads, since the watch began
  double read_bytes = 0;                   // asked for, since it began
  PythonThread main_stack{};
  double changed_s = 0;      // when the main thread's stack last did
  double any_changed_s = 0;  // when any thread's stack did
  std::string problem{};     // why there are no stacks

 private:
  void look_for_python(double now_s);
  pid_t outside_number(pid_t inside) const;

  const pid_t pid_;
  pid_t inside_;  // its number in its own namespace
  std::string program_;
  std::unique_ptr<PythonStacks> stacks_;
  std::unique_ptr<PythonValues> values_;
  ThreadCounters counters_;
  std::map<pid_t, pid_t> outside_;  // numbers of threads, when they differ
  std::map<pid_t, ThreadCounters::Thread> before_;
  double looked_s_ = -1e9, counted_s_ = -1;
  uint64_t all_fingerprint_ = 0;
};

}  // namespace headway
