#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "headway/probe/process/proc_files.h"
#include "headway/probe/process/waits.h"
#include "headway/probe/python/live_model.h"
#include "headway/probe/python/python_prints.h"
#include "headway/probe/python/python_stack.h"
#include "headway/probe/python/python_values.h"
#include "headway/probe/python/shape_clash.h"
#include "headway/probe/source/source_lines.h"
#include "headway/trace/outside.h"

namespace headway {

// A watched process and what was last read from it. Not for several threads.
class Target {
 public:
  explicit Target(pid_t pid);

  // After this moment (of now_ns) nothing more is read from its memory.
  void stop_at(int64_t ns);
  // Python's stacks now; none without Python or without permission.
  PythonThreads read_stacks(double now_s);
  // What a thread waits for. `tid` is the number that Python knows.
  Wait wait_of(pid_t tid) const;
  // Finds out what the main thread waits for, once it stands still. `tree`: the run's processes.
  void look_whom(double now_s, const std::map<pid_t, std::string>& tree);
  // Process and thread counters; false once it is gone or a zombie.
  bool read_counters(double now_s);
  // Variables in a stack's frames that show progress, those of the user's frames first.
  std::vector<SeenValue> read_values(const PythonThread& thread);

  // What its Python has printed since the last call, as far as its buffers show.
  std::string read_prints(bool errors) { return prints_ ? prints_->read(errors) : ""; }

  // The model that its main thread trains, as far as visible; nullptr without Python.
  LiveModel* model() { return model_.get(); }
  ShapeClash* clash() { return clash_.get(); }

  std::vector<SeenThreads> threads_by_name() const;

  // Drops what can be read again; kept_bytes() says how much that is.
  void forget();
  size_t kept_bytes() const;

  bool has_python() const { return stacks_ != nullptr; }
  pid_t pid() const { return pid_; }
  bool is_main_thread(pid_t tid) const;
  // Is this still the same process, and not another one that got its pid?
  bool is(const TaskStat& stat) const { return stat.started_ticks == started_ticks_; }

  SeenProcess seen{};
  SourceLines sources;
  std::vector<ThreadCounters::Thread> threads{};
  std::map<pid_t, double> thread_cores{};   // recently
  double cpu_s = 0, ready_s = 0;            // all threads, since the watch began
  double main_cpu_s = 0, main_ready_s = 0;  // its main thread
  double model_s = 0;                       // threads that never ran Python, running or ready to
  int64_t model_threads = 0;  // that run TensorFlow's operators, judged by their names
  double read_bytes = 0;      // read by system calls since the process began
  PythonThread main_stack{};
  double changed_s = 0;      // when the main thread's stack last changed
  double any_changed_s = 0;  // when any thread's stack did
  std::string problem{};     // why there are no stacks
  pid_t parent = 0;
  bool trains = false;           // a step was seen on its main thread
  double launches_since_s = -1;  // since when it only waits for its child processes; -1: never

 private:
  void look_for_python(double now_s);
  pid_t outside_number(pid_t inside) const;
  MemoryReader memory() const;
  std::optional<SystemCall> call_of(pid_t outside) const;

  const pid_t pid_;
  pid_t inside_;  // its pid in its own namespace
  const uint64_t started_ticks_;
  std::string program_;
  std::optional<FileUser> user_;
  int64_t stop_ns_;
  std::unique_ptr<PythonStacks> stacks_;
  std::unique_ptr<PythonValues> values_;
  std::unique_ptr<PythonPrints> prints_;
  std::unique_ptr<LiveModel> model_;
  std::unique_ptr<ShapeClash> clash_;
  ThreadCounters counters_;
  std::map<pid_t, double> thread_wants_;  // cores, used or waited for recently
  std::map<pid_t, pid_t> outside_;        // pids of threads, if they differ
  std::set<pid_t> makes_data_;            // threads other than the main one that ran Python
  std::map<pid_t, ThreadCounters::Thread> before_;
  double looked_s_ = -1e9, counted_s_ = -1, asked_s_ = -1e9;
  uint64_t all_fingerprint_ = 0;
};

}  // namespace headway
