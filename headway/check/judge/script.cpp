#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "headway/check/judge/judge.h"
#include "headway/check/judge/pip.h"
#include "headway/check/judge/say.h"
#include "headway/check/judge/visible_gpus.h"
#include "headway/core/text.h"

namespace headway {
namespace {

constexpr int64_t kPrefetch = 2;                    // batches per worker, PyTorch's default
constexpr int64_t kImageBytes = 224 * 224 * 3 * 4;  // of a usual image in float32
constexpr size_t kMostNamed = 8;

// What to install for a module whose package has another name.
constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kPackages = {{
    {"PIL", "pillow"},
    {"cv2", "opencv-python"},
    {"sklearn", "scikit-learn"},
    {"skimage", "scikit-image"},
    {"yaml", "PyYAML"},
    {"bs4", "beautifulsoup4"},
    {"pytorch_lightning", "pytorch-lightning"},
    {"tensorflow_datasets", "tensorflow-datasets"},
    {"tensorflow_addons", "tensorflow-addons"},
    {"tensorflow_hub", "tensorflow-hub"},
    {"segmentation_models_pytorch", "segmentation-models-pytorch"},
    {"dateutil", "python-dateutil"},
    {"google", "protobuf"},
    {"Levenshtein", "python-Levenshtein"},
    {"umap", "umap-learn"},
    {"pl_bolts", "lightning-bolts"},
}};

std::string package_of_module(const std::string& module) {
  for (const auto& [name, package] : kPackages)
    if (module == name) return std::string(package);
  return module;
}

std::string at(const std::string& file, int64_t line) { return fmt::format("{}:{}", file, line); }

void judge_modules(const MachineFacts& facts, Say& say) {
  const ScriptFacts& script = *facts.script;
  if (facts.python.version.empty())
    return say.not_seen("script-imports", "whether the modules that it imports are there",
                        {"the Python that would run it could not be asked",
                         "name it: headway check --python PROGRAM " + script.path});
  size_t named = 0;
  for (const ScriptNeed& each : script.modules) {
    if (++named > kMostNamed) break;
    const std::string install =
        fmt::format("{} install {}", pip_of(facts.python), package_of_module(each.what));
    say.add("script-imports", each.maybe ? Fit::kDoubtful : Fit::kWrong,
            fmt::format("{} imports {}, which {} does not have", at(each.file, each.line),
                        each.what, facts.python.program),
            {each.maybe ? "it is imported only in some cases, and fails then"
                        : "it ends there with ModuleNotFoundError",
             install});
  }
  if (script.modules.empty())
    say.good("script-imports", "all modules that it imports at its start are there");
}

void judge_paths(const ScriptFacts& script, Say& say) {
  size_t named = 0;
  for (const ScriptNeed& each : script.missing_paths) {
    if (++named > kMostNamed) break;
    say.add("script-paths", each.maybe ? Fit::kDoubtful : Fit::kWrong,
            fmt::format("{} reads '{}', which does not exist here", at(each.file, each.line),
                        each.what),
            {"it fails there; where the error is caught it goes on without data",
             "correct the path, or start it (and headway check) in the folder that it means",
             "source-never-yields"});
  }
}

std::string who_cannot(const MachineFacts& facts) {
  for (const InstalledFramework& each : facts.python.frameworks)
    if (each.build == FrameworkBuild::kCpu) return each.name;
  return "";
}

bool is_for_cuda(const MachineFacts& facts) {
  return std::any_of(
      facts.python.frameworks.begin(), facts.python.frameworks.end(),
      [](const InstalledFramework& each) { return each.build == FrameworkBuild::kCuda; });
}

void judge_gpu(const MachineFacts& facts, Say& say) {
  const ScriptFacts& script = *facts.script;
  if (script.gpu_line == 0) return;
  const auto shown = static_cast<int64_t>(visible_gpus(facts.gpu).shown.size());
  const std::string where = at(script.path, script.gpu_line);
  if (shown > script.highest_gpu && (is_for_cuda(facts) || who_cannot(facts).empty()))
    return say.good("script-gpu", where + " asks for a GPU, and one is there");
  if (shown > 0 && shown <= script.highest_gpu)
    return say.wrong("script-gpu",
                     fmt::format("{} asks for GPU {}; {} can be used, numbered from 0", where,
                                 script.highest_gpu, shown),
                     {"it fails with: invalid device ordinal",
                      "ask for a GPU that is there: cuda:0", "gpu-not-used"});
  const std::string found =
      shown == 0 ? where + " asks for a GPU, and none can be used here"
                 : fmt::format(
                       "{} asks for a GPU, and the {} of this Python is a build for the "
                       "CPU alone",
                       where, who_cannot(facts));
  const std::string remedy = shown == 0 ? "run it where a GPU is, or on the CPU: device = \"cpu\""
                                        : "install a build for CUDA (see the lines on python)";
  if (script.gpu_asked_first)
    return say.doubtful("script-gpu", found,
                        {"it asks first whether one is there, and trains on the CPU without a word",
                         remedy, "gpu-not-used"});
  say.wrong("script-gpu", found, {"it ends there with an error", remedy, "gpu-not-used"});
}

void judge_visible(const MachineFacts& facts, Say& say) {
  const ScriptFacts& script = *facts.script;
  if (script.hides_gpus_line > 0 && !facts.gpu.gpus.empty())
    say.doubtful(
        "script-gpu-visible", at(script.path, script.hides_gpus_line) + " hides all GPUs",
        {"a GPU is there, and this line keeps the framework from it",
         "remove the line, or set CUDA_VISIBLE_DEVICES to a GPU that is there", "gpu-not-used"});
  if (script.late_visible_line > 0)
    say.doubtful(
        "script-gpu-visible",
        at(script.path, script.late_visible_line) +
            " sets CUDA_VISIBLE_DEVICES after a framework was imported",
        {"a framework that has looked for GPUs already does not look again",
         "set it above the first import, or in the shell: CUDA_VISIBLE_DEVICES=0 python3 " +
             script.path,
         "gpu-not-used"});
}

void judge_workers(const MachineFacts& facts, Say& say) {
  const ScriptFacts& script = *facts.script;
  if (script.workers <= 0) return;
  const std::string where = at(script.path, script.workers_line);
  if (double(script.workers) > facts.cores.usable + 0.99)
    say.doubtful("script-workers",
                 fmt::format("{}: num_workers={} on {:.3g} cores", where, script.workers,
                             facts.cores.usable),
                 {"workers that compute push each other and the training aside; more than cores "
                  "are right only where they wait for a disk",
                  fmt::format("num_workers={}", std::max(1, int(facts.cores.usable) - 1)),
                  "dataloader-workers"});
  else
    say.good("script-workers", fmt::format("{}: num_workers={} on {:.3g} cores", where,
                                           script.workers, facts.cores.usable));
  if (script.batch <= 0 || !facts.memory.shm_free_bytes) return;
  const int64_t needed = (script.workers * kPrefetch + 1) * script.batch * kImageBytes;
  if (needed <= *facts.memory.shm_free_bytes) return;
  say.doubtful(
      "script-shared-memory",
      fmt::format("{}: {} workers x {} batches of {} samples take {} of /dev/shm if a sample is a "
                  "224 x 224 image in float32; {} is free",
                  where, script.workers, kPrefetch, script.batch, size_text(double(needed)),
                  size_text(double(*facts.memory.shm_free_bytes))),
      {"workers end in a bus error, or hang, when it is full",
       "docker run --shm-size=8g (sudo mount -o remount,size=8g /dev/shm), fewer workers, or uint8 "
       "images",
       "shared-memory-too-small"});
}

void judge_threads(const MachineFacts& facts, Say& say) {
  for (const SeenThreadSetting& each : facts.script->settings)
    if (double(each.threads) > facts.cores.usable + 0.99)
      say.doubtful("script-threads",
                   fmt::format("{}: {} on {:.3g} cores", at(each.at.file, each.at.line), each.text,
                               facts.cores.usable),
                   {"more busy threads than cores push each other aside",
                    fmt::format("at most {} here", std::max(1, int(facts.cores.usable))),
                    "thread-oversubscription"});
}

}  // namespace

void judge_script(const MachineFacts& facts, CheckLines& lines) {
  if (!facts.script) return;
  Say say(CheckTopic::kScript, lines);
  if (!facts.script->trouble.empty())
    return say.wrong("script", facts.script->trouble,
                     {"the script cannot be read", "check its name: headway check train.py"});
  judge_modules(facts, say);
  judge_paths(*facts.script, say);
  judge_gpu(facts, say);
  judge_visible(facts, say);
  judge_workers(facts, say);
  judge_threads(facts, say);
}

}  // namespace headway
