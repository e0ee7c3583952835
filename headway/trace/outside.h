#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headway/trace/kinds.h"

namespace headway {

// What can be seen of a run without its help: processes, threads, Python stacks, output. Plain data
// of bounded size however long the watch lasts; times in seconds since it began.

struct SeenFrame {
  std::string file{}, function{};
  int64_t line = 0;
  bool users = false;          // the user's own code, not in a library
  std::string text{};          // the source line, for the user's own
  int64_t loops = 0;           // how many loops of its function are around that line
  bool in_while = false;       // one of these loops is a `while`
  bool asks_for_lock = false;  // ... and checks whether a lock file still exists
  bool takes_lock = false;     // the line is `with lock:` or lock.acquire()
  bool array_call = false;     // the line calls a library of arrays, images, files: numpy, PIL ...
  SlowCall slow_call{};        // the line makes a call that has a much faster way
  bool one_element = false;    // the line touches one element of an array: a[y, x], getpixel(...)
  bool validates = false;      // the function measures a model and does not train it
  std::vector<int64_t> feeds{};  // lines of its function that use what this one makes

  bool operator==(const SeenFrame&) const = default;
  bool at_top_level() const { return function == "<module>"; }
};

// Which of the known ways of making samples appears in a stack.
enum class Maker : uint8_t {
  kNone,
  kSequence,      // Keras: Sequence, PyDataset, one item at a time
  kSequencePool,  // ... by its workers
  kGenerator,     // tf.data or Keras calls a Python generator
  kMappedPython,  // tf.numpy_function, tf.py_function inside map()
  kTorchInline,   // PyTorch's DataLoader without workers
  kTorchWorker,   // ... with workers
  kPool,          // multiprocessing, concurrent.futures
};
template <>
struct Texts<Maker> {
  static constexpr std::string_view all[] = {"",       "sequence",     "sequence pool", "generator",
                                             "mapped", "torch inline", "torch worker",  "pool"};
};

// Equal stacks of one kind of thread, counted. Only lines in the user's frames and in the innermost
// frame distinguish stacks: a library that moves from line to line stays one stack.
struct SeenStack {
  Role process = Role::kOther;
  bool main_thread = false;
  Activity activity = Activity::kOther;
  Maker maker = Maker::kNone;
  Wait wait = Wait::kNothing;
  Account account = Account::kUnknown;  // of the main thread; for other threads what it would be
  bool training = false;                // after training began
  std::vector<SeenFrame> frames{};      // innermost first
  int64_t samples = 0, recent = 0;      // all, and those of about the last 15 s
  int64_t with_gil = 0;                 // held Python's lock
  int64_t places = 0, top_place = 0;    // different instructions of the innermost frame, and how
                                        // often the most common was seen: a Python loop has many

  const SeenFrame* user_frame() const {  // innermost frame of the user's own code
    for (const SeenFrame& frame : frames)
      if (frame.users) return &frame;
    return nullptr;
  }
};

struct SeenProcess {
  int64_t pid = 0;
  Role role = Role::kOther;
  std::string name{};                  // comm
  TaskState state = TaskState::kGone;  // of the main thread
  std::string ending{};  // how it ended, if known: "killed by signal 9", "exit status 1"
  double at_s = 0;       // when it ended
  int64_t threads = 0, rss_bytes = 0;
  double cpu_s = 0;
  double cores = 0;            // used recently
  int64_t wanting = 0;         // threads that recently ran or waited for a core much of the time
  double still_s = 0;          // for how long its Python threads' stacks have not changed
  Wait wait = Wait::kNothing;  // of the main thread
  std::string waits_for{};     // if known: "10.0.0.7:443", "train.lock, held by 812"
  std::vector<SeenFrame> stack{};  // of the main thread, now
  bool waits_for_task = false;     // a worker of a pool or loader that has nothing to do
  bool waits_for_worker = false;   // is in a pool, queue or loader that others should fill
  int64_t looks = 0;               // at its main thread ...
  int64_t waits_for_ranks = 0;     // ... of these, how often it waited for other ranks
  std::string python{};            // "3.11"; empty: none, or unreadable

  bool there() const { return state != TaskState::kGone && state != TaskState::kZombie; }
};

// Threads of the main process whose names differ only in numbers.
struct SeenThreads {
  std::string name{};
  bool main = false;   // the main thread, alone
  bool model = false;  // they run TensorFlow's operators
  int64_t count = 0;
  double cpu_s = 0;
  double cores = 0;    // recently, all of them together
  double busiest = 0;  // recently, the busiest of them
};

// What a program told about its progress, in its output or in its variables.
struct SeenProgress {
  ProgressSource source = ProgressSource::kNone;
  int64_t epoch = 0, epochs = 0;               // counted from 1; 0: not known
  int64_t step = 0, steps_per_epoch = -1;      // within the epoch
  int64_t steps = 0;                           // since the watch began
  double first_step_s = -1, last_step_s = -1;  // when they were seen; -1: none yet
  double step_s = 0;                           // recently
  double loss = 0;
  double first_loss = 0;  // the first that was told
  int64_t losses = 0, bad_losses = 0;
  // Signs that the loss does not show what is learnt: lines tell several losses but no total
  // (perhaps of models that compete, as in a GAN), or a reward.
  bool several_losses = false, rewards = false;
  // Learning rates told in the output.
  int64_t rates = 0;
  double rate = 0, highest_rate = 0;  // the last one; the highest of all
  int64_t vanished_rates = 0;         // in a row, up to now: almost 0 compared with the highest
};

// A loss that was printed or stood in a variable.
struct SeenLoss {
  double at_s = 0;
  int64_t step = 0;  // since the watch began
  double value = 0;  // finite
};

struct SeenRemark {
  Remark kind = Remark::kOther;
  std::string text{};
};

struct SeenOutput {
  bool watched = false;  // only with `headway run`
  int64_t bytes = 0, lines = 0;
  double last_s = 0;  // when it last wrote something

  int64_t shuffle_fill = -1, shuffle_size = -1;  // TF's "Filling up shuffle buffer"
  double shuffle_first_s = 0, shuffle_last_s = 0;
  int64_t shuffle_first = -1;
  bool shuffle_filled = false;
  int64_t retracings = 0;
  std::vector<SeenRemark> remarks{};  // lines that point to a cause, as printed
  std::string exception{};            // "FileNotFoundError: ..."
  Remark exception_kind = Remark::kOther;
  SeenFrame raised_at{};  // the user's line in the traceback
  bool traceback = false;
};

// What the units of a GPU did during a period of time, if the driver measures it (Hopper and
// newer).
struct GpuWork {
  double seconds = 0;
  double busy = 0;            // share of the time in which a kernel ran
  double sms = 0, warps = 0;  // shares of the multiprocessors, and of their places for warps
  double tensor = 0, fp32 = 0, fp64 = 0;  // shares of the time of those units
  double memory_traffic = 0;              // share of what its memory can move
  double received_bps = 0, sent_bps = 0;  // over PCIe, bytes per second
};

struct SeenGpu {
  std::string name{};
  int64_t memory_bytes = 0, memory_used = 0, memory_own = 0;  // own: of the watched processes
  double utilisation = 0;                                     // mean over the watch so far, 0..1
  double recent = 0;                                          // recently
  double power_w = 0, power_limit_w = 0;
  double clock_mhz = 0, full_clock_mhz = 0;  // of the cores: now, and the maximum
  bool used = false;                         // by the watched processes
  bool throttled = false;                    // slowed down by power or heat, now
  GpuWork work{};                            // means over the watch; 0 s: not measured
};

// The value of a variable that shows progress; only names from a short list.
struct SeenValue {
  std::string function{}, name{}, value{};
  bool users = false;
};

// A process that does not belong to the run and uses the cores.
struct SeenNeighbour {
  int64_t pid = 0;
  std::string name{};
  double cores = 0;  // recently
};

// A setting in the program's environment or code for the number of compute threads.
struct SeenThreadSetting {
  std::string text{};  // "OMP_NUM_THREADS=1", "torch.set_num_threads(1)"
  SeenFrame at{};      // line 0: not in the code
  int64_t threads = 0;
};

// A line of the source that may explain why little is learnt.
struct SeenHint {
  Hint kind{};
  SeenFrame at{};
};

// The model and its optimizer, read from the objects themselves; for large models only some of the
// weights. Counts are numbers of weights (tensors).
struct SeenModel {
  int64_t looks = 0;
  int64_t steps = 0;          // made between the first and the last look
  int64_t weights = 0;        // of the models that were found
  int64_t held = 0;           // by optimizers ...
  int64_t held_in_model = 0;  // ... and belong to those models
  int64_t moved = 0;          // of those models (if none was found: of the held ones) that changed
  bool hides_gradients = false;  // TensorFlow's variables do not tell theirs
  int64_t with_gradient = 0;     // seen with one
  int64_t left_out = 0;          // of a model, with a gradient, held by no optimizer, never moved
  int64_t not_finite = 0;        // how often one was seen with a value that is not a number
  int64_t arrays = 0;            // of JAX: parameters, which are replaced instead of changed ...
  bool replaced = false;         // ... and were
  std::string optimizer{};       // its class
  bool plain_steps = false;      // its steps follow the gradient itself: SGD
  double rate = -1;              // its current learning rate; -1: not known
  double highest_rate = -1;
  int64_t tiny_rates = 0;  // looks in a row, up to now, with almost 0 compared with the highest
  int64_t hooks = 0, first_hooks = 0;  // of its modules, now and when they were first seen
  int64_t hooks_grew = 0;              // looks in which there were more than in the previous one
  // Of the user's large NumPy arrays of floats, the one with the largest numbers: its root mean
  // square, and the variable that holds it.
  double array_size = 0;
  std::string array_name{};
};

// How the training thread spent a part of the watch: counts of looks, one kind per line.
struct LedgerEntry {
  Account account = Account::kUnknown;
  DeviceState device = DeviceState::kNone;
  int64_t looks = 0;
  double seconds = 0;  // that these looks stand for; expensive looks are less frequent
};
struct LedgerBlock {
  double at_s = 0, seconds = 0;  // when it began, how long it was
  int64_t steps = 0;             // made during it
  bool training = false;         // training had begun
  std::vector<LedgerEntry> entries{};
  // Seconds during this block:
  double cpu_s = 0;         // all threads of the run
  double ready_s = 0;       // ... that were ready to run but had no core
  double main_cpu_s = 0;    // of the training thread
  double main_ready_s = 0;  //
  double model_s = 0;       // main process: threads that never ran Python, running or ready to
  double throttled_s = 0;   // the quota stopped the run
  double neighbours_s = 0;  // cores x seconds used by other processes
  double idle_s = 0;        // cores x seconds that nothing used
};

// Code that the process compiled for itself (XLA, JAX, torch.compile) and holds in memory.
struct SeenCompiled {
  double at_s = 0;
  int64_t steps = 0;  // made before this moment
  int64_t pieces = 0;
};

// A native function that ran on a core.
struct SeenFunction {
  std::string library{}, function{};  // empty: it has no name
  NativeKind kind = NativeKind::kOther;
  bool main_thread = false;
  bool input = false;  // works for an input pipeline
  int64_t samples = 0;
};

// Native code of the main process while it trains.
struct SeenNative {
  std::string why_not{};       // why there are no hits, and how to allow them; empty: allowed
  double takers_since_s = -1;  // when the thread that asks tf.data for elements was found; -1:
                               // never
  int64_t samples = 0;         // hits of threads on a core ...
  int64_t whole = 0;           // ... whose stacks tell what they work for
  int64_t lost = 0;            // ... that did not fit into the ring
  int64_t input_samples = 0;   // ... that worked for an input pipeline
  int64_t decode_samples = 0;  // ... of these, in decoders and operators on pixels
  int64_t main_samples = 0;    // hits of the training thread ...
  int64_t main_waits = 0;      // ... that waited for the device
  int64_t main_uploads = 0;    // ... that copied to the device
  std::vector<SeenFunction> functions{};  // most often seen first
};

struct Outside {
  bool seen = false;
  double at_s = 0;
  int64_t pid = 0;
  std::string command{};  // redacted; the last one that could be read
  Framework framework = Framework::kNone;
  bool launched = false;         // by `headway run`: its output was seen from the start
  double since_start_s = 0;      // how long the process had run when the watch began
  double training_since_s = -1;  // first look inside a training call
  int64_t samples = 0, torn = 0;
  int64_t python_threads = 0;       // of the main process, in the last look; if there are very many
  int64_t python_threads_read = 0;  // only some are read, others each time, but always the main one
  std::vector<SeenProcess> processes{};  // the main one first
  std::vector<SeenStack> stacks{};       // most often seen first
  std::vector<SeenThreads> threads{};
  std::vector<SeenValue> values{};
  std::vector<SeenGpu> gpus{};
  SeenProgress progress{};
  SeenModel model{};
  SeenOutput output{};
  std::vector<LedgerBlock> ledger{};        // oldest first; long watches have longer blocks
  std::vector<SeenLoss> losses{};           // oldest first, thinned
  std::vector<SeenNeighbour> neighbours{};  // the busiest first
  std::vector<SeenThreadSetting> settings{};
  SeenNative native{};
  std::vector<SeenCompiled> compiled{};          // every few seconds; only the latest, oldest first
  int64_t batch_size = 0;                        // from fit(); 0: not known
  bool batch_is_empty = false;                   // the list that should hold the samples is empty
  bool reference_blas = false;                   // the plain BLAS is loaded, and no faster one
  int64_t open_files = 0, open_files_limit = 0;  // of the main process; 0: not known
  double main_still_s = 0;             // for how long the main thread's stack has not changed
  double quiet_s = 0;                  // for how long nothing has moved: output, steps, reading
  double cores = 0;                    // used recently by all processes together
  double wanted_cores = 0;             // used recently, or waited for while others used them
  double read_rate = 0;                // bytes per second read recently, by all processes
  double cpus_allowed = 0;             // of the main process, by affinity; 0: not known
  std::vector<std::string> endless{};  // the user's functions that contain `while True`
  std::vector<std::string> endless_generators{};  // those that yield in one, in the user's files
  bool fits = false;          // a framework's own loop over epochs trains: Keras', Lightning's
  int64_t model_threads = 0;  // TensorFlow's, that run operators; 0: cannot be identified
  double ready_share = 0;  // recently: threads without a core, as a share of those that could run
  SeenFrame decodes_at{};  // where TensorFlow is asked to decode images; line 0: nowhere
  SeenFrame positive_loss_at{};    // where a loss is used that cannot fall below zero
  SeenFrame crossentropy_at{};     // where a crossentropy is used
  SeenFrame keeps_at{};            // where a list grows that nothing empties
  std::vector<SeenHint> hints{};   // in the source: why little may be learnt; one of each kind
  SeenFrame learning_rate_at{};    // where the learning rate is set
  SeenFrame schedule_at{};         // where a schedule for it is made
  SeenFrame hooks_at{};            // where hooks are registered in PyTorch
  SeenFrame shuffles_at{};         // where a stream of samples is shuffled
  SeenFrame after_prefetch_at{};   // where tf.data calls map() after its last prefetch
  SeenFrame serial_map_at{};       // where tf.data calls map() for one element after the other
  double learning_rate = 0;        // ... that number; 0: not known
  SeenFrame batch_size_at{};       // where the source sets batch_size to a number, the largest
  int64_t written_batch_size = 0;  // ... that number
  std::vector<std::string> missing_files{};  // named by variables, but do not exist
  std::vector<std::string> network_files{};  // open files on network file systems
  int64_t shm_free_bytes = -1, shm_bytes = -1;
  std::vector<std::string> cuda_libraries{};  // mapped: "libcudnn.so.8"
  std::string cuda_problem{};
  std::string exit{};  // "exit status 1", "killed by signal 9"; empty: still running
  int64_t exit_status = -1;
  bool gone = false;        // it ended while it was watched; perhaps unknown how
  std::string unwatched{};  // why nothing can be said about it; empty: it is watched
  std::string blind{};      // what could not be read, and how to allow it
};

}  // namespace headway
