#include <fmt/format.h>

#include <algorithm>

#include "headway/check/judge/judge.h"
#include "headway/check/judge/say.h"
#include "headway/core/text.h"

namespace headway {
namespace {

constexpr int64_t kMiB = 1 << 20, kGiB = 1 << 30;
constexpr int64_t kTooLittle = kGiB;   // a framework alone takes half of it
constexpr int64_t kLittle = 4 * kGiB;  // with CUDA it takes 2 to 3
constexpr int64_t kTinyShm = 128 * kMiB, kSmallShm = kGiB;
constexpr double kMuchSwapped = 0.25;

bool has_torch(const MachineFacts& facts) {
  return std::any_of(facts.python.frameworks.begin(), facts.python.frameworks.end(),
                     [](const InstalledFramework& each) { return each.package == "torch"; });
}

void judge_available(const MemoryFacts& memory, Say& say) {
  if (memory.total_bytes == 0)
    return say.not_seen("memory", "how much memory there is cannot be read (/proc/meminfo)",
                        {"a framework takes about 1 GB, with CUDA 2 to 3, before the first sample",
                         "see whether /proc is mounted: mount | grep proc"});
  const bool limited = memory.limit_bytes > 0 && memory.limit_bytes < memory.total_bytes;
  const std::string machine =
      limited ? fmt::format("a cgroup limits this process to {} of the machine's {}",
                            size_text(double(memory.limit_bytes)),
                            size_text(double(memory.total_bytes)))
              : fmt::format("the machine has {}", size_text(double(memory.total_bytes)));
  const std::string found = fmt::format("{} of memory may still be taken; {}",
                                        size_text(double(memory.available_bytes)), machine);
  if (memory.available_bytes >= kLittle) return say.good("memory", found);
  const std::string raise =
      limited ? "raise the limit (docker run --memory=32g, Kubernetes' limits.memory, sbatch "
                "--mem=32G)"
              : "end other programs (ps aux --sort=-rss | head), or use a machine with more memory";
  say.add("memory", memory.available_bytes < kTooLittle ? Fit::kWrong : Fit::kDoubtful, found,
          {"a framework takes about 1 GB, with CUDA 2 to 3, before the first sample; what goes "
           "beyond the limit is killed without a traceback",
           raise + "; or smaller batches and buffers, and fewer workers",
           limited ? "memory-limit" : "host-memory-pressure"});
}

void judge_swap(const MemoryFacts& memory, Say& say) {
  if (memory.swap_bytes == 0) return;
  const std::string found =
      fmt::format("{} of {} of swap is in use", size_text(double(memory.swap_used_bytes)),
                  size_text(double(memory.swap_bytes)));
  const bool full = double(memory.swap_used_bytes) > kMuchSwapped * double(memory.swap_bytes) &&
                    memory.available_bytes < kLittle;
  if (!full) return say.good("swap", found);
  say.doubtful("swap", found,
               {"memory is short already: pages of the training would be read back from disk",
                "end what is not needed: ps aux --sort=-rss | head", "host-memory-pressure"});
}

void judge_shm(const MachineFacts& facts, Say& say) {
  const MemoryFacts& memory = facts.memory;
  const std::string remedy =
      memory.container
          ? "docker run --shm-size=8g ... (or --ipc=host); Kubernetes: an emptyDir with medium: "
            "Memory at /dev/shm"
          : "sudo mount -o remount,size=8g /dev/shm (in a container: docker run --shm-size=8g)";
  const std::string why =
      "PyTorch's DataLoader workers hand over every batch in /dev/shm: with too little they end in "
      "a bus error, or hang";
  if (!memory.shm_bytes)
    return say.doubtful(
        "shared-memory", "there is no /dev/shm",
        {why, "sudo mount -t tmpfs -o size=8g tmpfs /dev/shm", "shared-memory-too-small"});
  const std::string found =
      fmt::format("/dev/shm has {}, {} of it free", size_text(double(*memory.shm_bytes)),
                  size_text(double(memory.shm_free_bytes.value_or(0))));
  const int64_t free_bytes = memory.shm_free_bytes.value_or(0);
  if (free_bytes >= kSmallShm) return say.good("shared-memory", found);
  const bool leftovers = *memory.shm_bytes >= kSmallShm;
  const Fit fit = free_bytes < kTinyShm && has_torch(facts) ? Fit::kWrong : Fit::kDoubtful;
  say.add("shared-memory", fit, found,
          {why,
           leftovers ? "see what fills it: ls -la /dev/shm; remove what is yours and of no "
                       "running job"
                     : remedy,
           "shared-memory-too-small"});
}

}  // namespace

void judge_memory(const MachineFacts& facts, CheckLines& lines) {
  Say say(CheckTopic::kMemory, lines);
  judge_available(facts.memory, say);
  judge_swap(facts.memory, say);
  judge_shm(facts, say);
}

}  // namespace headway
