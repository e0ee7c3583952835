#include "headway/probe/activity.h"

#include <algorithm>
#include <string_view>

namespace headway {
namespace {

using Frames = std::vector<SeenFrame>;

// The part after the last dot: of "DataLoader.__iter__" or "make.<locals>.run".
std::string_view last_word(std::string_view function) {
  const size_t dot = function.rfind('.');
  return dot == std::string_view::npos ? function : function.substr(dot + 1);
}

struct Known {
  std::string_view file;      // part of the path
  std::string_view function;  // after its last dot, or its beginning followed by *; empty: any
  Activity activity;
};

// What the training thread does besides training: everything in frames further in counts as that.
constexpr Known kContexts[] = {
    {"<frozen importlib", "_find_and_load", Activity::kImport},
    {"keras/src/callbacks/model_checkpoint.py", "", Activity::kCheckpoint},
    {"keras/src/callbacks/backup_and_restore.py", "", Activity::kCheckpoint},
    {"keras/src/saving/", "save_*", Activity::kCheckpoint},
    {"tensorflow/python/checkpoint/", "save", Activity::kCheckpoint},
    {"tensorflow/python/checkpoint/", "write", Activity::kCheckpoint},
    {"callbacks/model_checkpoint.py", "", Activity::kCheckpoint},
    {"torch/serialization.py", "save", Activity::kCheckpoint},
    {"safetensors/", "save_file", Activity::kCheckpoint},
    {"transformers/trainer.py", "_save_checkpoint", Activity::kCheckpoint},
    {"trainer/connectors/checkpoint_connector.py", "save_checkpoint", Activity::kCheckpoint},
    {"trainers/trainer.py", "evaluate", Activity::kValidate},
    {"tensorflow/trainer.py", "evaluate", Activity::kValidate},
    {"torch/trainer.py", "evaluate", Activity::kValidate},
    {"jax/trainer.py", "evaluate", Activity::kValidate},
    {"keras/engine/training.py", "evaluate", Activity::kValidate},
    {"transformers/trainer.py", "evaluate", Activity::kValidate},
    {"transformers/trainer.py", "evaluation_loop", Activity::kValidate},
    {"loops/evaluation_loop.py", "", Activity::kValidate},
    {"loops/dataloader/evaluation_loop.py", "", Activity::kValidate},
    {"callbacks/callback_list.py", "on_*", Activity::kCallback},
    {"keras/callbacks.py", "on_*", Activity::kCallback},
    {"transformers/trainer_callback.py", "call_event", Activity::kCallback},
    {"transformers/trainer.py", "log", Activity::kCallback},
    {"trainer/call.py", "_call_callback_hooks", Activity::kCallback},
    {"pytorch/loggers/", "", Activity::kCallback},
    {"logger_connector.py", "", Activity::kCallback},
    {"torch/utils/tensorboard/", "", Activity::kCallback},
    {"tensorboard/summary/writer/", "", Activity::kCallback},
    {"/wandb/", "", Activity::kCallback},
    {"logging/__init__.py", "", Activity::kCallback},
};

// The first line that matches any frame decides: ordered from the most telling to the least.
constexpr Known kKnown[] = {
    {"torch/utils/data/_utils/fetch.py", "fetch", Activity::kProduce},
    {"multiprocessing/resource_tracker.py", "main", Activity::kIdle},
    {"multiprocessing/resource_sharer.py", "_serve", Activity::kIdle},
    {"multiprocessing/forkserver.py", "main", Activity::kIdle},
    {"multiprocessing/queues.py", "_feed", Activity::kIdle},
    {"multiprocessing/pool.py", "_handle_workers", Activity::kIdle},
    {"multiprocessing/pool.py", "_handle_tasks", Activity::kIdle},
    {"multiprocessing/pool.py", "_handle_results", Activity::kIdle},
    {"tqdm/_monitor.py", "", Activity::kIdle},
    {"torch/utils/data/_utils/worker.py", "_worker_loop", Activity::kIdle},
    {"torch/utils/data/_utils/pin_memory.py", "", Activity::kIdle},
    {"torch/_dynamo/convert_frame.py", "", Activity::kTrace},
    {"torch/_dynamo/symbolic_convert.py", "", Activity::kTrace},
    {"torch/_inductor/compile_fx.py", "", Activity::kTrace},
    {"torch/_inductor/graph.py", "", Activity::kTrace},
    {"torch/_inductor/async_compile.py", "", Activity::kTrace},
    {"torch/jit/_script.py", "script*", Activity::kTrace},
    {"torch/jit/_trace.py", "trace*", Activity::kTrace},
    {"polymorphic_function/polymorphic_function.py", "_initialize", Activity::kTrace},
    {"polymorphic_function/tracing_compilation.py", "_maybe_define_function", Activity::kTrace},
    {"polymorphic_function/tracing_compilation.py", "trace_function", Activity::kTrace},
    {"framework/func_graph.py", "func_graph_from_py_func", Activity::kTrace},
    {"tensorflow/python/framework/ops.py", "_create_op*", Activity::kTrace},
    {"tensorflow/python/client/session.py", "_extend_graph", Activity::kTrace},
    {"jax/_src/compiler.py", "", Activity::kTrace},
    {"jax/_src/interpreters/partial_eval.py", "", Activity::kTrace},
    {"jax/_src/interpreters/mlir.py", "", Activity::kTrace},
    {"jax/_src/interpreters/pxla.py", "lower*", Activity::kTrace},
    {"jax/_src/interpreters/pxla.py", "compile*", Activity::kTrace},
    {"jax/_src/pjit.py", "_create_pjit_jaxpr", Activity::kTrace},
    {"jax/_src/stages.py", "lower", Activity::kTrace},
    {"jax/_src/stages.py", "compile", Activity::kTrace},
    {"distribute/collective_all_reduce_strategy.py", "_initialize_multi_worker",
     Activity::kRendezvous},
    {"distribute/parameter_server_strategy_v2.py", "_connect_to_cluster", Activity::kRendezvous},
    {"training/server_lib.py", "join", Activity::kIdle},
    {"jax/_src/distributed.py", "initialize", Activity::kRendezvous},
    {"torch/distributed/rendezvous.py", "", Activity::kRendezvous},
    {"torch/distributed/elastic/rendezvous", "", Activity::kRendezvous},
    {"torch/distributed/distributed_c10d.py", "init_process_group", Activity::kRendezvous},
    {"torch/distributed/distributed_c10d.py", "", Activity::kCollective},
    {"tensorflow/python/ops/script_ops.py", "__call__", Activity::kProduce},
    {"data_adapters/py_dataset_adapter.py", "get_index", Activity::kProduce},
    {"data_adapters/py_dataset_adapter.py", "get_worker*", Activity::kProduce},
    {"data_adapters/py_dataset_adapter.py", "_finite*", Activity::kProduce},
    {"data_adapters/py_dataset_adapter.py", "get", Activity::kFetch},
    {"transformers/data/data_collator.py", "", Activity::kProduce},
    {"pytorch/loops/fetchers.py", "", Activity::kFetch},
    {"torch/utils/data/dataloader.py", "", Activity::kFetch},
    {"tensorflow/python/data/ops/iterator_ops.py", "__next__", Activity::kFetch},
    {"tensorflow/python/data/ops/iterator_ops.py", "get_next", Activity::kFetch},
    {"tensorflow/python/data/ops/iterator_ops.py", "_next_internal", Activity::kFetch},
    {"tensorflow/python/data/ops/", "", Activity::kPipeline},
    {"data_adapters/generator_data_adapter.py", "", Activity::kFetch},
    {"jax/_src/api.py", "block_until_ready", Activity::kSync},
    {"jax/_src/array.py", "_value", Activity::kSync},
    {"jax/_src/array.py", "__array__", Activity::kSync},
    {"torch/cuda/__init__.py", "synchronize", Activity::kSync},
    {"torch/cuda/streams.py", "synchronize", Activity::kSync},
    {"torch/_tensor.py", "__format__", Activity::kSync},
    {"torch/_tensor.py", "__repr__", Activity::kSync},
    {"torch/_tensor.py", "__array__", Activity::kSync},
    {"torch/_tensor_str.py", "", Activity::kSync},
    {"utilities/apply_func.py", "batch_to", Activity::kUpload},
    {"accelerate/utils/operations.py", "send_to_device", Activity::kUpload},
    {"jax/_src/api.py", "device_put", Activity::kUpload},
    {"jax/_src/dispatch.py", "_device_put*", Activity::kUpload},
    {"torch/autograd/", "backward", Activity::kStep},
    {"torch/_tensor.py", "backward", Activity::kStep},
    {"torch/optim/", "", Activity::kStep},
    {"torch/nn/modules/module.py", "_call_impl", Activity::kStep},
    {"torch/nn/modules/module.py", "_wrapped_call_impl", Activity::kStep},
    {"torch/nn/functional.py", "", Activity::kStep},
    {"torch/nn/utils/clip_grad.py", "", Activity::kStep},
    {"transformers/trainer.py", "training_step", Activity::kStep},
    {"pytorch/loops/optimization/", "", Activity::kStep},
    {"keras/src/backend/", "train_step", Activity::kStep},
    {"keras/src/backend/tensorflow/trainer.py", "function", Activity::kStep},
    {"keras/src/backend/tensorflow/trainer.py", "*_step_on_*", Activity::kStep},
    {"tensorflow/python/eager/backprop.py", "gradient", Activity::kStep},
    {"keras/src/optimizers/", "apply*", Activity::kStep},
    {"keras/src/layers/layer.py", "__call__", Activity::kStep},
    {"polymorphic_function/polymorphic_function.py", "__call__", Activity::kStep},
    {"tensorflow/python/client/session.py", "run", Activity::kStep},
    {"jax/_src/interpreters/pxla.py", "__call__", Activity::kStep},
    {"jax/_src/stages.py", "__call__", Activity::kStep},
    {"trainers/epoch_iterator.py", "", Activity::kFetch},
    {"keras/src/backend/tensorflow/trainer.py", "fit", Activity::kFit},
    {"keras/src/backend/torch/trainer.py", "fit", Activity::kFit},
    {"keras/src/backend/jax/trainer.py", "fit", Activity::kFit},
    {"keras/engine/training.py", "fit", Activity::kFit},
    {"trainer/trainer.py", "fit", Activity::kFit},
    {"transformers/trainer.py", "train", Activity::kFit},
};

// On the training thread: it waits for what others make. On other threads: they wait for work.
constexpr Known kQueues[] = {
    {"multiprocessing/queues.py", "get", Activity::kFetch},
    {"multiprocessing/pool.py", "get", Activity::kFetch},
    {"multiprocessing/pool.py", "next", Activity::kFetch},
    {"multiprocessing/pool.py", "wait", Activity::kFetch},
    {"/queue.py", "get", Activity::kFetch},
    {"concurrent/futures/_base.py", "result*", Activity::kFetch},
    {"concurrent/futures/_base.py", "as_completed", Activity::kFetch},
    {"concurrent/futures/_base.py", "wait", Activity::kFetch},
};
constexpr Known kPools[] = {
    {"concurrent/futures/thread.py", "_worker", Activity::kIdle},
    {"concurrent/futures/process.py", "_process_worker", Activity::kIdle},
    {"multiprocessing/pool.py", "worker", Activity::kIdle},
};

// Images, tables and files that the training thread writes meanwhile, in a loop of the user's
// own.
constexpr Known kWriters[] = {
    {"PIL/Image.py", "save", Activity::kCallback},
    {"matplotlib/", "", Activity::kCallback},
    {"imageio/", "imwrite", Activity::kCallback},
    {"pandas/core/generic.py", "to_csv", Activity::kCallback},
    {"pandas/core/generic.py", "to_pickle", Activity::kCallback},
    {"pandas/core/frame.py", "to_parquet", Activity::kCallback},
    {"json/__init__.py", "dump", Activity::kCallback},
    {"numpy/lib/", "save*", Activity::kCheckpoint},
    {"joblib/numpy_pickle.py", "dump", Activity::kCheckpoint},
};

// Frames of a process that has started others and waits for them to end.
constexpr Known kLaunchers[] = {
    {"multiprocessing/process.py", "join", Activity::kIdle},
    {"torch/multiprocessing/spawn.py", "join", Activity::kIdle},
    {"torch/distributed/elastic/agent/", "", Activity::kIdle},
    {"torch/distributed/launcher/", "", Activity::kIdle},
    {"/subprocess.py", "wait", Activity::kIdle},
    {"/subprocess.py", "communicate", Activity::kIdle},
};

// A call into a library that leaves no frame, recognised by words in the user's line.
struct KnownCall {
  std::string_view words;
  Activity activity;
};
constexpr KnownCall kCalls[] = {
    {"gc.collect(", Activity::kGarbage},
    {".item()", Activity::kSync},
    {".cpu()", Activity::kSync},
    {"cuda.synchronize(", Activity::kSync},
    {".block_until_ready(", Activity::kSync},
    {".to(device", Activity::kUpload},
    {".to(self.device", Activity::kUpload},
    {".to(\"cuda", Activity::kUpload},
    {".to('cuda", Activity::kUpload},
    {".cuda(", Activity::kUpload},
};

bool fits(std::string_view pattern, std::string_view word) {
  if (pattern.empty()) return true;
  if (pattern.front() == '*') {
    return word.find(pattern.substr(1, pattern.size() - 2)) != std::string_view::npos;
  }
  if (pattern.back() == '*') return word.starts_with(pattern.substr(0, pattern.size() - 1));
  return word == pattern;
}

bool fits(const Known& known, const SeenFrame& frame) {
  return !frame.users && frame.file.find(known.file) != std::string::npos &&
         fits(known.function, last_word(frame.function));
}

// A forked worker's stack begins with its parent's frames: only those after the fork are its own.
size_t own_frames(const Frames& frames) {
  for (size_t i = 0; i < frames.size(); ++i) {
    if (is_fork(frames[i].file, frames[i].function)) return i;
  }
  return frames.size();
}

struct Found {
  const Known* known = nullptr;
  size_t at = 0;  // of the frames
};

template <size_t N>
Found find(const Known (&table)[N], const Frames& frames, size_t own) {
  for (const Known& known : table)
    for (size_t i = 0; i < own; ++i)
      if (fits(known, frames[i])) return {&known, i};
  return {};
}

bool through(const Frames& frames, std::string_view file) {
  return std::any_of(frames.begin(), frames.end(),
                     [&](const SeenFrame& f) { return f.file.find(file) != std::string::npos; });
}

Maker maker_of(const Frames& frames, Role role) {
  if (through(frames, "torch/utils/data/"))
    return role == Role::kWorker ? Maker::kTorchWorker : Maker::kTorchInline;
  if (through(frames, "py_dataset_adapter.py"))
    return through(frames, "/pool.py") ? Maker::kSequencePool : Maker::kSequence;
  if (through(frames, "from_generator_op.py") || through(frames, "generator_data_adapter.py"))
    return Maker::kGenerator;
  if (through(frames, "script_ops.py")) return Maker::kMappedPython;
  if (through(frames, "concurrent/futures/") || through(frames, "multiprocessing/"))
    return Maker::kPool;
  return Maker::kNone;
}

// Called by the function that fetches: the user's own code makes the batch right here.
bool made_here(const Frames& frames, size_t fetches_at) {
  return std::any_of(frames.begin(), frames.begin() + static_cast<long>(fetches_at),
                     [](const SeenFrame& f) { return f.users; });
}

// The user's own validation loops are recognised by what they do, or by their names.
bool is_validation(const SeenFrame& frame) {
  const std::string_view word = last_word(frame.function);
  return frame.users &&
         (frame.validates || word.starts_with("validat") || word.starts_with("evaluat"));
}

// What is written into memory is not a file: compressing a sample is a way to augment it.
bool writes_to_memory(const Frames& frames) {
  const auto line =
      std::find_if(frames.begin(), frames.end(), [](const SeenFrame& f) { return f.users; });
  return line != frames.end() && (line->text.find("format=") != std::string::npos ||
                                  line->text.find("buf") != std::string::npos ||
                                  line->text.find("BytesIO") != std::string::npos);
}

Activity called_by(const SeenFrame& innermost) {
  if (innermost.users)
    for (const KnownCall& call : kCalls)
      if (innermost.text.find(call.words) != std::string::npos) return call.activity;
  return Activity::kUser;
}

Activity activity_of(const Frames& frames, Role role, bool main_thread) {
  const size_t own = own_frames(frames);
  const auto begin = frames.begin(), end = begin + static_cast<long>(own);
  const bool users = std::any_of(begin, end, [](const SeenFrame& f) { return f.users; });
  const bool trains = (role == Role::kMain || role == Role::kRank) && main_thread;
  if (trains) {
    if (const Found context = find(kContexts, frames, own); context.known) {
      const Activity called = called_by(frames[0]);  // whoever calls it: callbacks too
      return called == Activity::kGarbage ? called : context.known->activity;
    }
    if (std::any_of(begin, end, is_validation)) return Activity::kValidate;
  }
  if (const Found found = find(kKnown, frames, own); found.known) {
    const bool made = found.known->activity == Activity::kFetch && made_here(frames, found.at);
    return made ? Activity::kProduce : found.known->activity;
  }
  if (const Found queue = find(kQueues, frames, own); queue.known)
    return trains ? Activity::kFetch : Activity::kIdle;
  if (find(kPools, frames, own).known) return users ? Activity::kProduce : Activity::kIdle;
  if (!users || own == 0) return Activity::kOther;
  if (const Found writer = find(kWriters, frames, own);
      trains && writer.known && !writes_to_memory(frames))
    return writer.known->activity;
  return called_by(frames[0]);
}

}  // namespace

bool is_fork(std::string_view file, std::string_view function) {
  return file.ends_with("multiprocessing/popen_fork.py") && last_word(function) == "_launch";
}

StackMeaning meaning_of(const Frames& frames, Role role, bool main_thread) {
  StackMeaning out{.activity = activity_of(frames, role, main_thread)};
  if (out.activity == Activity::kProduce) out.maker = maker_of(frames, role);
  if (out.activity == Activity::kFetch && through(frames, "torch/utils/data/dataloader.py"))
    out.maker = Maker::kTorchWorker;
  return out;
}

bool gives_orders(const Frames& frames) {
  return through(frames, "jax/_src/dispatch.py") || through(frames, "jax/_src/core.py") ||
         through(frames, "torch/_tensor.py") || through(frames, "torch/functional.py");
}

bool is_training(Activity activity) {
  switch (activity) {
    case Activity::kFetch:
    case Activity::kProduce:
    case Activity::kStep:
    case Activity::kSync:
    case Activity::kValidate:
    case Activity::kFit: return true;
    default: return false;
  }
}

Account account_of(Activity activity, Wait wait, bool training) {
  switch (activity) {
    case Activity::kImport: return Account::kPrepares;
    case Activity::kTrace: return Account::kCompiles;
    case Activity::kFetch: return Account::kWaitsForData;
    case Activity::kPipeline: return training ? Account::kWaitsForData : Account::kPrepares;
    case Activity::kProduce: return Account::kMakesData;
    case Activity::kValidate: return Account::kValidates;
    case Activity::kCallback:
      if (wait == Wait::kFileLock) return Account::kWaitsForFileLock;
      return wait == Wait::kSleep ? Account::kSleeps : Account::kLogs;
    case Activity::kCheckpoint: return Account::kCheckpoints;
    case Activity::kCollective:
    case Activity::kRendezvous: return Account::kCommunicates;
    case Activity::kGarbage: return Account::kCollectsGarbage;
    case Activity::kSync: return Account::kWaitsForDevice;
    case Activity::kUpload: return Account::kLaunches;
    default: break;
  }
  switch (wait) {
    case Wait::kFileLock: return Account::kWaitsForFileLock;
    case Wait::kSleep: return Account::kSleeps;
    case Wait::kPipe: return Account::kWaitsForPipe;
    case Wait::kSocket: return Account::kWaitsForSocket;
    case Wait::kChild: return Account::kWaitsForChild;
    case Wait::kTerminal: return Account::kWaitsForTerminal;
    case Wait::kDisk:
    case Wait::kOpen: return Account::kWaitsForDisk;
    default: break;
  }
  // A lock inside a step is how the library waits for its own threads, which compute.
  if (activity == Activity::kStep) return Account::kComputes;
  if (wait == Wait::kLock) return Account::kWaitsForLock;
  if (!training) return Account::kPrepares;
  if (activity == Activity::kUser) return Account::kRunsOwnCode;
  return activity == Activity::kFit ? Account::kComputes : Account::kUnknown;
}

bool drops_a_pipeline(const Frames& frames) {
  return fits({"keras/src/backend/tensorflow/trainer.py", "fit", Activity::kFit}, frames[0]);
}

bool asks_for_lock_file(const Frames& frames) {
  constexpr std::string_view kLibraries[] = {"/filelock/", "torch/utils/file_baton.py",
                                             "/portalocker/", "/fasteners/"};
  for (const SeenFrame& frame : frames) {
    if (frame.users) return frame.asks_for_lock;
    for (const std::string_view library : kLibraries)
      if (frame.file.find(library) != std::string::npos) return true;
  }
  return false;
}

bool waits_for_children(const Frames& frames) {
  return find(kLaunchers, frames, own_frames(frames)).known != nullptr;
}

bool waits_for_task(const Frames& frames) {
  const size_t own = own_frames(frames);
  for (size_t i = 0; i < own; ++i) {
    if (frames[i].users) return false;
    for (const Known& pool : kPools)
      if (fits(pool, frames[i])) return true;
    if (fits({"_utils/worker.py", "_worker_loop", Activity::kIdle}, frames[i])) return true;
  }
  return false;
}

bool waits_for_worker(const Frames& frames) {
  return find(kQueues, frames, own_frames(frames)).known || through(frames, "dataloader.py") ||
         through(frames, "multiprocessing/connection.py") || through(frames, "popen_fork.py");
}

}  // namespace headway
