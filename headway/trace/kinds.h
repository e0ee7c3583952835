#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

// What the records of a trace can say, as types. Each value has one text, used in files and on
// screens; code never compares the texts.
//
//   text_of(Wait::kLock)             "lock"
//   from_text<Activity>("fetch")     Activity::kFetch; nothing for a text that is none
namespace headway {

template <typename E>
struct Texts;  // of each enum: `all`, in the order of its values

template <typename E>
concept HasTexts = requires {
  Texts<E>::all;
};

template <HasTexts E>
constexpr std::string_view text_of(E value) {
  return Texts<E>::all[static_cast<size_t>(value)];
}

template <HasTexts E>
constexpr std::optional<E> from_text(std::string_view text) {
  for (size_t i = 0; i < std::size(Texts<E>::all); ++i)
    if (Texts<E>::all[i] == text) return static_cast<E>(i);
  return std::nullopt;
}

// Who watched: the run itself, or another process.
enum class Eye : uint8_t { kInside, kOutside };
template <>
struct Texts<Eye> {
  static constexpr std::string_view all[] = {"inside", "outside"};
};

// What a run on Headway is for.
enum class Purpose : uint8_t {
  kTrain,
  kFeed,     // nothing is known about the consumer of the batches
  kMeasure,  // batches are taken as fast as possible: waiting for them is no fault
};
template <>
struct Texts<Purpose> {
  static constexpr std::string_view all[] = {"train", "feed", "measure"};
};

// The number type in which a model's products are computed.
enum class ProductType : uint8_t { kUnknown, kFloat32, kBFloat16 };
template <>
struct Texts<ProductType> {
  static constexpr std::string_view all[] = {"", "float32", "bfloat16"};
};

// What a run on Headway is doing, as its training thread reports it.
enum class RunPhase : uint8_t {
  kNone,
  kBuilding,
  kProbing,
  kFirstBatch,
  kFirstStep,
  kWaitingForData,
  kStep,
  kValidation,
  kCheckpoint,
  kCallbacks,
  kFinishing,
  kEnded,
  kConsuming,  // the consumer is busy with a batch, or away
};
template <>
struct Texts<RunPhase> {
  static constexpr std::string_view all[] = {
      "",         "building",   "probing",    "first batch", "first step", "waiting for data",
      "step",     "validation", "checkpoint", "callbacks",   "finishing",  "ended",
      "consuming"};
};

// What a note is about.
enum class NoteKind : uint8_t {
  kOther,
  kWarning,
  kError,
  kStall,             // who waits for what
  kProbe,             // what the replay before a run found
  kCause,             // of an error that knows its cause: the problem
  kRemedy,            // ... and what to do
  kNanOrigin,         // where the first value that is not a number was made
  kLeftOut,           // weights that the loss does not reach
  kCheckpointFailed,  //
};
template <>
struct Texts<NoteKind> {
  static constexpr std::string_view all[] = {
      "other", "warning", "error",      "stall",    "probe",
      "cause", "remedy",  "nan-origin", "left-out", "checkpoint-failed"};
};

// The role of a watched process.
enum class Role : uint8_t {
  kOther,
  kMain,    // its main thread trains
  kWorker,  // started by the main process
  kRank,    // trains beside the main process
};
template <>
struct Texts<Role> {
  static constexpr std::string_view all[] = {"other", "main", "worker", "rank"};
};

// A call for which there is a much faster way.
enum class SlowCall : uint8_t {
  kNone,
  kScatter,         // np.add.at: one number after another
  kGrowingArray,    // an array that is copied whole to become longer
  kPythonOverRows,  // a Python function for each row or value
  kFrontOfList,     // moves all elements after it
  kDeepCopy,        //
  kInverse,         // of a matrix
};
template <>
struct Texts<SlowCall> {
  static constexpr std::string_view all[] = {
      "", "scatter", "growing array", "over rows", "front of list", "deep copy", "inverse"};
};

// What a program's source says that may explain why little or nothing is learnt.
enum class Hint : uint8_t {
  kSecondSoftmax,     // the model ends in a softmax or sigmoid, and its loss applies one, too
  kMissingSoftmax,    // the loss expects probabilities, but the model ends in something else
  kOneUnitSoftmax,    // a softmax over one unit is always 1
  kRectifiedOutput,   // the model ends in a ReLU, but its labels may be below zero
  kBoundedOutput,     // the model ends in a sigmoid or tanh, but its labels may be larger
  kHeldWeights,       // weights are set not to change
  kNoStep,            // gradients are computed, but no step uses them
  kClearedGradients,  // ... are cleared before the step
  kOtherWeights,      // the optimizer holds weights of a model that is not trained
  kReplacedLayers,    // a layer was replaced after the optimizer was made
  kConstantWeights,   // weights begin as zeros, or all equal
  kSaturatingLayers,  // many layers of sigmoid or tanh
  kCutGradient,       // something between loss and weights has no gradient
  kHighRate,          // a learning rate too high for most models with this optimizer
  kLowRate,           // ... so low that steps have no visible effect
  kUnscaledInput,     // values from 0 to 255 that nothing divides
  kShapeClash,        // a difference of (n, 1) and (n), which is (n, n)
  kShortSchedule,     // a schedule that counts steps is given a number of epochs
};
template <>
struct Texts<Hint> {
  static constexpr std::string_view all[] = {
      "second-softmax", "missing-softmax", "one-unit-softmax", "rectified-output",
      "bounded-output", "held-weights",    "no-step",          "cleared-gradients",
      "other-weights",  "replaced-layers", "constant-weights", "saturating-layers",
      "cut-gradient",   "high-rate",       "low-rate",         "unscaled-input",
      "shape-clash",    "short-schedule"};
};

// The kernel's state of a process.
enum class TaskState : uint8_t { kGone, kRunning, kSleeping, kDisk, kStopped, kZombie };
template <>
struct Texts<TaskState> {
  static constexpr std::string_view all[] = {"", "R", "S", "D", "T", "Z"};
};

// What a thread waits for. kNothing: it is on a core, or would be if one were free.
enum class Wait : uint8_t {
  kNothing,
  kLock,      // of its own process: a mutex, a queue, other threads
  kFileLock,  // flock, fcntl
  kSleep,
  kPoll,  // several files at once
  kPipe,
  kSocket,
  kChild,
  kTerminal,
  kDisk,  // the content of a file
  kOpen,  // opening a file
  kOther,
};
template <>
struct Texts<Wait> {
  static constexpr std::string_view all[] = {"",         "lock", "file lock", "sleep",
                                             "poll",     "pipe", "socket",    "child",
                                             "terminal", "disk", "open",      "other"};
};

// What a stack is doing, judged by the framework functions in it.
enum class Activity : uint8_t {
  kOther,       // no user code, and nothing of the following
  kImport,      // loading modules
  kTrace,       // building or compiling a graph (tf.function, torch.compile, XLA)
  kFetch,       // the training thread gets its next batch
  kPipeline,    // builds an input pipeline, and copies arrays into its graph
  kProduce,     // user code makes samples: generator, Sequence, Dataset, worker process
  kStep,        // forward, backward, optimizer
  kSync,        // reads a value from the device, or waits for it to finish
  kUpload,      // copies to the device
  kValidate,    //
  kCallback,    // callbacks of fit, logging
  kCheckpoint,  // saving
  kCollective,  // waits for other ranks in a collective operation
  kRendezvous,  // waits until all ranks have connected
  kFit,         // inside a training call, in nothing of the above
  kGarbage,     // garbage collection
  kIdle,        // a thread or worker that waits for work
  kUser,        // the user's own code, in nothing of the above
};
template <>
struct Texts<Activity> {
  static constexpr std::string_view all[] = {
      "other",      "import",     "trace",  "fetch",    "pipeline", "produce",
      "step",       "sync",       "upload", "validate", "callback", "checkpoint",
      "collective", "rendezvous", "fit",    "garbage",  "idle",     "user"};
};

enum class Framework : uint8_t { kNone, kTensorFlow, kKeras, kTorch, kJax };
template <>
struct Texts<Framework> {
  static constexpr std::string_view all[] = {"", "tensorflow", "keras", "torch", "jax"};
};

// Where a step counter comes from.
enum class ProgressSource : uint8_t { kNone, kOutput, kVariables };
template <>
struct Texts<ProgressSource> {
  static constexpr std::string_view all[] = {"", "output", "variables"};
};

// What a line of output, or the exception that ended the program, says.
enum class Remark : uint8_t {
  kOther,
  kOutOfData,            // "ran out of data"
  kGradientsDoNotExist,  //
  kOutOfMemory,          // of the machine
  kGpuOutOfMemory,       //
  kLargeAllocation,      // "Allocation of ... exceeds 10% of free system memory"
  kTooManyWorkers,       // "suggested max number of worker"
  kWorkerDied,           //
  kSharedMemory,         //
  kNotPicklable,         //
  kCudaProblem,          // driver, libraries and kernels do not match
  kDiskFull,             //
  kTooManyFiles,         //
  kRankLost,             // the other end of a collective has closed
  kBroadcasts,           // a loss from the shapes (n, 1) and (n)
};
template <>
struct Texts<Remark> {
  static constexpr std::string_view all[] = {"other",
                                             "out-of-data",
                                             "gradients-do-not-exist",
                                             "out-of-memory",
                                             "gpu-out-of-memory",
                                             "large-allocation",
                                             "too-many-workers",
                                             "worker-died",
                                             "shared-memory",
                                             "not-picklable",
                                             "cuda-problem",
                                             "disk-full",
                                             "too-many-files",
                                             "rank-lost",
                                             "broadcasts"};
};

// The state of a run as a whole. kEnded: how it ended is unknown; kNotWatched: nothing is known.
enum class State : uint8_t {
  kHealthy,
  kSlow,
  kStuck,
  kNotStarted,
  kCrashed,
  kFinished,
  kEnded,
  kNotWatched,
};
template <>
struct Texts<State> {
  static constexpr std::string_view all[] = {"healthy", "slow",     "stuck", "not-started",
                                             "crashed", "finished", "ended", "not-watched"};
};

// What the training thread, or what it waits for, does: every moment belongs to one account.
enum class Account : uint8_t {
  kUnknown,
  kPrepares,          // before training: modules, the user's own code
  kComputes,          // the step
  kLaunches,          // gives a device its orders
  kWaitsForDevice,    //
  kWaitsForData,      //
  kMakesData,         // itself
  kCompiles,          // or traces
  kValidates,         //
  kCheckpoints,       //
  kLogs,              // callbacks too
  kCommunicates,      // with other ranks
  kCollectsGarbage,   //
  kRunsOwnCode,       // the user's Python and what it calls, in nothing of the above
  kWaitsForLock,      //
  kWaitsForFileLock,  //
  kWaitsForPipe,      //
  kWaitsForSocket,    //
  kWaitsForChild,     //
  kWaitsForTerminal,  //
  kWaitsForDisk,      //
  kSleeps,            //
  kNoCoreOwn,         // ready, and other threads of the run have the cores
  kNoCoreNeighbours,  // ... other processes
  kNoCoreQuota,       // ... the quota is used up
  kPages,             // or swaps
};
template <>
struct Texts<Account> {
  static constexpr std::string_view all[] = {"unknown",
                                             "prepares",
                                             "computes",
                                             "launches",
                                             "waits for device",
                                             "waits for data",
                                             "makes data",
                                             "compiles",
                                             "validates",
                                             "checkpoints",
                                             "logs",
                                             "communicates",
                                             "collects garbage",
                                             "runs own code",
                                             "waits for lock",
                                             "waits for file lock",
                                             "waits for pipe",
                                             "waits for socket",
                                             "waits for child",
                                             "waits for terminal",
                                             "waits for disk",
                                             "sleeps",
                                             "no core: own threads",
                                             "no core: neighbours",
                                             "no core: quota",
                                             "pages"};
};
inline constexpr size_t kAccounts = std::size(Texts<Account>::all);

// What native code does, by its function and library (headway/probe/native/native.table).
enum class NativeKind : uint8_t {
  kOther,            // not known
  kTakesElement,     // waits for the next element of an input pipeline
  kInput,            // runs or schedules such a pipeline
  kDecodes,          // images, records, compressed bytes
  kImage,            // changes pixels
  kComputes,         // products of matrices, and what else a model is made of
  kCompiles,         //
  kLaunches,         // gives a device its orders
  kWaitsForDevice,   //
  kUploads,          // copies to a device
  kCommunicates,     // with other ranks
  kCollectsGarbage,  //
  kInterprets,       // Python
  kAllocates,        //
  kCopies,           //
  kIdle,             // a thread without work
  kSpins,            // ... that keeps its core busy
  kGenerated,        // code that was made while the program runs (oneDNN, XLA, torch.compile)
};
template <>
struct Texts<NativeKind> {
  static constexpr std::string_view all[] = {
      "other",        "takes-element", "input",      "decodes",          "image",
      "computes",     "compiles",      "launches",   "waits-for-device", "uploads",
      "communicates", "garbage",       "interprets", "allocates",        "copies",
      "idle",         "spins",         "generated"};
};

// Of the GPU that trains, at the same moment.
enum class DeviceState : uint8_t { kNone, kBusy, kIdle };
template <>
struct Texts<DeviceState> {
  static constexpr std::string_view all[] = {"none", "busy", "idle"};
};

}  // namespace headway
