#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headway {

// What can be seen of a run without its help: processes, threads, Python stacks, output. Plain data
// of bounded size however long the watch; times in seconds since it began.

struct SeenFrame {
  std::string file{}, function{};
  int64_t line = 0;
  bool users = false;  // the user's own code: in no library
  std::string text{};  // the source line, for the user's own
  int64_t loops = 0;   // of its function, around that line

  bool operator==(const SeenFrame&) const = default;
};

// Equal stacks of one kind of thread, counted. Lines differ only in the user's frames and in the
// innermost: a library that moves from line to line stays one stack.
struct SeenStack {
  std::string process{};   // "main", "worker" or "other"
  std::string thread{};    // "main" or "other"
  std::string activity{};  // what it is about: activity.h of the room probe
  std::string wait{};  // empty: on a core; "lock", "sleep", "disk", "pipe", "socket", "child" ...
  bool training = false;              // after training began
  std::vector<SeenFrame> frames{};    // innermost first
  int64_t samples = 0, recent = 0;    // all, and those of about the last 15 s
  int64_t with_gil = 0;               // held Python's lock meanwhile
  int64_t places = 0, top_place = 0;  // different instructions of the innermost frame, and how
                                      // often the commonest was seen: a loop in Python has many

  const SeenFrame* user_frame() const {  // innermost of the user's own
    for (const SeenFrame& frame : frames)
      if (frame.users) return &frame;
    return nullptr;
  }
};

struct SeenProcess {
  int64_t pid = 0;
  std::string role{};    // "main", "worker", "other"
  std::string name{};    // comm
  std::string state{};   // of the main thread: "R", "S", "D", "Z"; empty once it is gone
  std::string ending{};  // how it went, as far as known: "killed by signal 9", "exit status 1"
  double at_s = 0;       // when it went
  int64_t threads = 0, rss_bytes = 0;
  double cpu_s = 0;
  double cores = 0;                // used of late
  double still_s = 0;              // its Python threads' stacks have not changed for so long
  std::string wait{};              // of the main thread
  std::vector<SeenFrame> stack{};  // of the main thread, now
  std::string python{};            // "3.11"; empty: none, or not to be read
};

// Threads of the main process whose names are alike but for numbers.
struct SeenThreads {
  std::string name{};
  int64_t count = 0;
  double cpu_s = 0;
  double cores = 0;    // of late, all together
  double busiest = 0;  // of late, one of them
};

// What a program said and where it stands, from its output or from its variables.
struct SeenProgress {
  std::string source{};                        // "output" or "variables"
  int64_t epoch = 0, epochs = 0;               // counted from 1; 0: not known
  int64_t step = 0, steps_per_epoch = -1;      // within the epoch
  int64_t steps = 0;                           // since the watch began
  double first_step_s = -1, last_step_s = -1;  // when they were seen; -1: none yet
  double step_s = 0;                           // of late
  double loss = 0;
  double first_loss = 0;  // the first that was said
  int64_t losses = 0, bad_losses = 0;
};

struct SeenOutput {
  bool watched = false;  // `run` only
  int64_t bytes = 0, lines = 0;
  double last_s = 0;  // when something last came

  int64_t shuffle_fill = -1, shuffle_size = -1;  // TF's "Filling up shuffle buffer"
  double shuffle_first_s = 0, shuffle_last_s = 0;
  int64_t shuffle_first = -1;
  bool shuffle_filled = false;
  int64_t retracings = 0;
  std::vector<std::string> remarks{};  // lines that name a cause, as said
  std::string exception{};             // "FileNotFoundError: ..."
  SeenFrame raised_at{};               // the user's line in the traceback
  bool traceback = false;
};

struct SeenGpu {
  std::string name{};
  int64_t memory_bytes = 0, memory_used = 0, memory_own = 0;  // own: of the watched processes
  double utilisation = 0;                                     // mean of the samples so far, 0..1
  double recent = 0;                                          // of late
  double power_w = 0, power_limit_w = 0;
  double clock_mhz = 0, full_clock_mhz = 0;  // of the cores, now and at most
  bool used = false;                         // by the watched processes
  bool throttled = false;                    // held down by power or heat, now
};

// A value of a variable that helps, of a name on a short list.
struct SeenValue {
  std::string function{}, name{}, value{};
  bool users = false;
};

struct Outside {
  bool seen = false;
  double at_s = 0;
  int64_t pid = 0;
  std::string command{};         // redacted; the last one that could be read
  std::string framework{};       // "keras", "torch", "tensorflow"; empty: none of them
  bool launched = false;         // by `run`: what came before was seen too
  double since_start_s = 0;      // how long the process had run when the watch began
  double training_since_s = -1;  // first sample inside a training call
  int64_t samples = 0, torn = 0;
  int64_t python_threads = 0;       // of the main process, in the last look; of very many a part is
  int64_t python_threads_read = 0;  // read, another one each time, and the main thread always
  std::vector<SeenProcess> processes{};  // the main one first
  std::vector<SeenStack> stacks{};       // most often seen first
  std::vector<SeenThreads> threads{};
  std::vector<SeenValue> values{};
  std::vector<SeenGpu> gpus{};
  SeenProgress progress{};
  SeenOutput output{};
  double main_still_s = 0;             // the main thread's stack has not changed for so long
  double quiet_s = 0;                  // nothing has moved: output, steps, reading
  double cores = 0;                    // used of late by all processes together
  double wanted_cores = 0;             // used of late, or waited for while others had them
  double read_rate = 0;                // bytes per second asked for of late, by all together
  double cpus_allowed = 0;             // of the main process, by affinity; 0: not known
  std::vector<std::string> endless{};  // the user's functions that hold `while True`
  std::vector<std::string> endless_generators{};  // those that yield in one, in the user's files
  double ready_share = 0;  // of late, threads that could run but had no core, of those that could
  SeenFrame decodes_at{};  // where TensorFlow is asked to decode images; line 0: nowhere
  std::vector<std::string> missing_files{};  // named by variables, and not there
  std::vector<std::string> network_files{};  // open files on file systems behind a network
  int64_t shm_free_bytes = -1, shm_bytes = -1;
  std::vector<std::string> cuda_libraries{};  // mapped: "libcudnn.so.8"
  std::string cuda_problem{};
  std::string exit{};  // "exit status 1", "killed by signal 9"; empty: still running
  int64_t exit_status = -1;
  bool gone = false;        // it ended while it was watched, and how may not be known
  std::string unwatched{};  // why nothing can be said about it; empty: it is watched
  std::string blind{};      // what could not be read, and how to allow it
};

}  // namespace headway
