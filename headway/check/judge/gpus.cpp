#include <fmt/format.h>

#include "headway/check/judge/judge.h"
#include "headway/check/judge/say.h"
#include "headway/check/judge/visible_gpus.h"
#include "headway/core/text.h"

namespace headway {
namespace {

constexpr double kMuchUsed = 0.5;  // share of a GPU's memory that is in use already
constexpr const char* kSlow = "frameworks then train on the CPU, often without a word";

bool is_gpu_there(const GpuFacts& gpu) {
  return gpu.on_bus > 0 || gpu.device_files || !gpu.kernel_module.empty();
}

std::string remedy_without_library(const MachineFacts& facts) {
  if (facts.memory.container)
    return "start the container with its GPUs: docker run --gpus all ... (the host needs NVIDIA's "
           "container toolkit)";
  return facts.gpu.kernel_module.empty()
             ? "install NVIDIA's driver from your distribution, then restart the machine"
             : "install the libraries of the driver beside its kernel module (Debian, Ubuntu: "
               "libnvidia-ml1 and libcuda1 of the same version)";
}

void judge_no_library(const MachineFacts& facts, Say& say) {
  const GpuFacts& gpu = facts.gpu;
  if (!is_gpu_there(gpu)) {
    say.good("gpu-driver", "no NVIDIA GPU: training uses the CPU");
    return;
  }
  const std::string there =
      !gpu.kernel_module.empty() ? fmt::format("the kernel module {} is loaded", gpu.kernel_module)
      : gpu.on_bus > 0           ? fmt::format("{} NVIDIA GPU{} on the PCI bus", gpu.on_bus,
                                     gpu.on_bus == 1 ? " is" : "s are")
                                 : "/dev/nvidia0 exists";
  say.wrong("gpu-driver",
            there + ", but the driver's library libnvidia-ml.so.1 cannot be loaded here",
            {kSlow, remedy_without_library(facts), "gpu-not-used"});
}

void judge_failure(const MachineFacts& facts, Say& say) {
  const GpuFacts& gpu = facts.gpu;
  switch (gpu.nvml) {
    case NvmlState::kVersionMismatch:
      return say.wrong(
          "gpu-driver",
          fmt::format("the driver's library is of another version than the kernel module{}",
                      gpu.kernel_module.empty() ? "" : " " + gpu.kernel_module),
          {"the driver was updated while the old one was loaded: no program can use the GPU",
           "restart the machine; in a container: restart the container", "cuda-version-mismatch"});
    case NvmlState::kNoDriver:
      if (!is_gpu_there(gpu))
        return say.doubtful("gpu-driver",
                            "NVIDIA's driver library is installed, but its kernel module is not "
                            "loaded, and no GPU is on the PCI bus",
                            {"if this machine should have a GPU, it is not connected to it",
                             "ask for a GPU where the machine or container is started; else "
                             "nothing is to be done",
                             "gpu-not-used"});
      return say.wrong("gpu-driver", "the kernel module of NVIDIA's driver is not loaded",
                       {kSlow,
                        "sudo modprobe nvidia; if that fails, install the headers of this kernel "
                        "and the driver again",
                        "gpu-not-used"});
    case NvmlState::kNoPermission:
      return say.wrong("gpu-driver", "the driver refuses this user",
                       {kSlow,
                        "check who may read and write /dev/nvidia*: ls -l /dev/nvidia* (on most "
                        "machines everybody, or the group video)",
                        "gpu-not-used"});
    default:
      return say.wrong(
          "gpu-driver",
          fmt::format("NVIDIA's driver does not answer (NVML error {})", gpu.nvml_error),
          {kSlow, "see what the driver says: nvidia-smi, and sudo dmesg | grep -i nvrm",
           "gpu-not-used"});
  }
}

void judge_each(const GpuFacts& gpu, Say& say) {
  for (size_t i = 0; i < gpu.gpus.size(); ++i) {
    const InstalledGpu& each = gpu.gpus[i];
    const std::string what = fmt::format(
        "GPU {}: {}{}, {}, {} in use", i, each.name.empty() ? "without a name" : each.name,
        each.capability
            ? fmt::format(", compute capability {}.{}", each.capability / 10, each.capability % 10)
            : "",
        size_text(double(each.memory_bytes)), size_text(double(each.memory_used)));
    const bool full =
        each.memory_bytes > 0 && double(each.memory_used) > kMuchUsed * double(each.memory_bytes);
    if (!full) {
      say.good("gpu", what);
      continue;
    }
    say.doubtful("gpu", what,
                 {"another program holds most of its memory: a training may not fit beside it",
                  "see who: nvidia-smi; end it, or choose another GPU with CUDA_VISIBLE_DEVICES",
                  "gpu-out-of-memory"});
  }
}

void judge_visible(const GpuFacts& gpu, Say& say) {
  if (!gpu.visible || gpu.gpus.empty()) return;
  const VisibleGpus visible = visible_gpus(gpu);
  const std::string setting = fmt::format("CUDA_VISIBLE_DEVICES is '{}'", *gpu.visible);
  if (visible.divided)
    return say.not_seen("gpu-visible", setting + ": it names MIG instances",
                        {"whether these instances exist is not checked",
                         "compare with what this prints: nvidia-smi -L"});
  if (visible.bad_entry.empty() && visible.why.empty())
    return say.good("gpu-visible", fmt::format("{}: {} of {} GPUs can be used", setting,
                                               visible.shown.size(), gpu.gpus.size()));
  const std::string ends = visible.bad_entry.empty() ? visible.why
                                                     : fmt::format("'{}' ends the list: {}",
                                                                   visible.bad_entry, visible.why);
  if (!visible.shown.empty())
    return say.wrong("gpu-visible",
                     fmt::format("{}, and {}; {} of {} GPUs can be used", setting, ends,
                                 visible.shown.size(), gpu.gpus.size()),
                     {"CUDA ignores that entry and all after it, without a word",
                      "name the GPUs that are there (nvidia-smi -L): export CUDA_VISIBLE_DEVICES=0",
                      "gpu-not-used"});
  say.wrong("gpu-visible", fmt::format("{}: no GPU can be used ({})", setting, ends),
            {kSlow,
             "unset CUDA_VISIBLE_DEVICES, or set it to a GPU that is there: export "
             "CUDA_VISIBLE_DEVICES=0",
             "gpu-not-used"});
}

}  // namespace

void judge_gpus(const MachineFacts& facts, CheckLines& lines) {
  const GpuFacts& gpu = facts.gpu;
  Say say(CheckTopic::kGpu, lines);
  if (gpu.nvml == NvmlState::kNoLibrary) return judge_no_library(facts, say);
  if (gpu.nvml != NvmlState::kAnswers) return judge_failure(facts, say);
  if (gpu.gpus.empty()) {
    say.wrong("gpu-driver", fmt::format("NVIDIA's driver {} answers, but shows no GPU", gpu.driver),
              {kSlow,
               "ask for a GPU where the machine, container or job is started (docker run "
               "--gpus all, sbatch --gres=gpu:1)",
               "gpu-not-used"});
    return;
  }
  say.good("gpu-driver", gpu.cuda > 0
                             ? fmt::format("NVIDIA driver {}, for CUDA up to {}.{}", gpu.driver,
                                           gpu.cuda / 1000, gpu.cuda % 1000 / 10)
                             : fmt::format("NVIDIA driver {}", gpu.driver));
  if (!gpu.cuda_library)
    say.wrong("gpu-cuda-library", "the driver's library libcuda.so.1 cannot be loaded here",
              {"nvidia-smi works, but no program can compute on the GPU",
               facts.memory.container
                   ? "start the container with NVIDIA_DRIVER_CAPABILITIES=compute,utility (docker "
                     "run -e ...), and with --gpus all"
                   : "install the driver's library for CUDA (Debian, Ubuntu: libcuda1, of the "
                     "driver's version), or add its folder to LD_LIBRARY_PATH",
               "gpu-not-used"});
  judge_each(gpu, say);
  judge_visible(gpu, say);
}

}  // namespace headway
