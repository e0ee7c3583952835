#include "headway/probe/activity.h"

#include <algorithm>
#include <string_view>

namespace headway {
namespace {

// The last word of "DataLoader.__iter__" or "make.<locals>.run".
std::string_view last_word(std::string_view function) {
  const size_t dot = function.rfind('.');
  return dot == std::string_view::npos ? function : function.substr(dot + 1);
}

struct Known {
  std::string_view file;      // part of the path
  std::string_view function;  // its last word, or the beginning of it with * at the end; empty: any
  std::string_view activity;
};

// The first line that fits any frame decides: the order is from what is most telling to least.
constexpr Known kKnown[] = {
    {"<frozen importlib", "_find_and_load", "import"},
    {"torch/utils/data/_utils/fetch.py", "fetch", "produce"},
    {"multiprocessing/resource_tracker.py", "main", "idle"},
    {"multiprocessing/resource_sharer.py", "_serve", "idle"},
    {"multiprocessing/forkserver.py", "main", "idle"},
    {"multiprocessing/queues.py", "_feed", "idle"},
    {"multiprocessing/pool.py", "_handle_workers", "idle"},
    {"multiprocessing/pool.py", "_handle_tasks", "idle"},
    {"multiprocessing/pool.py", "_handle_results", "idle"},
    {"tqdm/_monitor.py", "", "idle"},
    {"torch/utils/data/_utils/worker.py", "_worker_loop", "idle"},
    {"torch/utils/data/_utils/pin_memory.py", "", "idle"},
    {"torch/_dynamo/", "", "trace"},
    {"torch/_inductor/", "", "trace"},
    {"polymorphic_function/polymorphic_function.py", "_initialize", "trace"},
    {"polymorphic_function/tracing_compilation.py", "_maybe_define_function", "trace"},
    {"polymorphic_function/tracing_compilation.py", "trace_function", "trace"},
    {"framework/func_graph.py", "func_graph_from_py_func", "trace"},
    {"torch/distributed/rendezvous.py", "", "rendezvous"},
    {"torch/distributed/elastic/rendezvous", "", "rendezvous"},
    {"torch/distributed/distributed_c10d.py", "init_process_group", "rendezvous"},
    {"torch/distributed/distributed_c10d.py", "", "collective"},
    {"model_checkpoint.py", "", "checkpoint"},
    {"torch/serialization.py", "save", "checkpoint"},
    {"callbacks/callback_list.py", "on_*", "callback"},
    {"tensorflow/python/ops/script_ops.py", "__call__", "produce"},
    {"data_adapters/py_dataset_adapter.py", "get_index", "produce"},
    {"data_adapters/py_dataset_adapter.py", "get_worker*", "produce"},
    {"data_adapters/py_dataset_adapter.py", "_finite*", "produce"},
    {"data_adapters/py_dataset_adapter.py", "get", "fetch"},
    {"trainer.py", "evaluate", "validate"},
    {"loops/evaluation_loop.py", "", "validate"},
    {"torch/utils/data/dataloader.py", "", "fetch"},
    {"tensorflow/python/data/ops/iterator_ops.py", "__next__", "fetch"},
    {"tensorflow/python/data/ops/iterator_ops.py", "get_next", "fetch"},
    {"tensorflow/python/data/ops/iterator_ops.py", "_next_internal", "fetch"},
    {"data_adapters/generator_data_adapter.py", "", "fetch"},
    {"torch/autograd/", "backward", "step"},
    {"torch/_tensor.py", "backward", "step"},
    {"torch/optim/", "", "step"},
    {"torch/nn/modules/module.py", "_call_impl", "step"},
    {"torch/nn/modules/module.py", "_wrapped_call_impl", "step"},
    {"keras/src/backend/", "train_step", "step"},
    {"keras/src/backend/tensorflow/trainer.py", "function", "step"},
    {"keras/src/backend/tensorflow/trainer.py", "*_step_on_*", "step"},
    {"tensorflow/python/eager/backprop.py", "gradient", "step"},
    {"keras/src/optimizers/", "apply*", "step"},
    {"trainers/epoch_iterator.py", "", "fetch"},
    {"keras/src/backend/tensorflow/trainer.py", "fit", "fit"},
    {"keras/src/backend/torch/trainer.py", "fit", "fit"},
    {"keras/src/backend/jax/trainer.py", "fit", "fit"},
    {"keras/engine/training.py", "fit", "fit"},
    {"trainer/trainer.py", "fit", "fit"},
    {"concurrent/futures/thread.py", "_worker", "pool"},
    {"concurrent/futures/process.py", "_process_worker", "pool"},
    {"multiprocessing/pool.py", "worker", "pool"},
};

bool fits(std::string_view pattern, std::string_view word) {
  if (pattern.empty()) return true;
  if (pattern.front() == '*') {
    return word.find(pattern.substr(1, pattern.size() - 2)) != std::string_view::npos;
  }
  if (pattern.back() == '*') return word.starts_with(pattern.substr(0, pattern.size() - 1));
  return word == pattern;
}

// A forked worker's stack begins with its parent's: only what lies above the fork is its own.
size_t own_frames(const std::vector<SeenFrame>& frames) {
  for (size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].file.find("multiprocessing/popen_fork.py") != std::string::npos) return i;
  }
  return frames.size();
}

}  // namespace

std::string activity_of(const std::vector<SeenFrame>& frames) {
  const size_t own = own_frames(frames);
  bool users = false, validates = false;  // loops of one's own are known by their names
  for (size_t i = 0; i < own; ++i) {
    if (!frames[i].users) continue;
    users = true;
    const std::string_view word = last_word(frames[i].function);
    validates |= word.starts_with("validat") || word.starts_with("evaluat");
  }
  for (const Known& known : kKnown) {
    for (size_t i = 0; i < own; ++i) {
      if (frames[i].file.find(known.file) == std::string::npos) continue;
      if (!fits(known.function, last_word(frames[i].function))) continue;
      if (known.activity == "pool") return users ? "produce" : "idle";
      // Called by what fetches: the user's own code makes the batch, here and now.
      const bool made_here = std::any_of(frames.begin(), frames.begin() + static_cast<long>(i),
                                         [](const SeenFrame& f) { return f.users; });
      if (known.activity == "fetch" && made_here) return "produce";
      const bool loop = known.activity == "fetch" || known.activity == "step";
      return loop && validates ? "validate" : std::string(known.activity);
    }
  }
  if (validates) return "validate";
  return users ? "user" : "other";
}

bool is_training(const std::string& activity) {
  for (const char* known :
       {"fetch", "produce", "step", "validate", "callback", "checkpoint", "fit"})
    if (activity == known) return true;
  return false;
}

std::string framework_of(const std::vector<SeenFrame>& frames) {
  std::string found;
  for (const SeenFrame& frame : frames) {
    if (frame.file.find("/keras/") != std::string::npos) return "keras";
    if (frame.file.find("/torch/") != std::string::npos) found = "torch";
    if (found.empty() && frame.file.find("/tensorflow/") != std::string::npos) found = "tensorflow";
  }
  return found;
}

}  // namespace headway
