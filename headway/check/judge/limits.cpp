#include <fmt/format.h>

#include <algorithm>

#include "headway/check/judge/judge.h"
#include "headway/check/judge/say.h"
#include "headway/core/text.h"

// What ulimit sets.
namespace headway {
namespace {

constexpr int64_t kTooFewFiles = 256, kFewFiles = 1024, kEnoughFiles = 65536;
constexpr int64_t kFewProcesses = 512;
constexpr int64_t kGiB = 1 << 30;
constexpr int64_t kFewAddresses = 64 * kGiB;  // with CUDA; a build for the CPU takes about 8

void judge_files(const MemoryFacts& limits, Say& say) {
  if (!limits.open_files) return say.good("open-files", "any number of files may be open at once");
  const std::string found =
      fmt::format("{} files may be open at once (ulimit -n)", with_commas(*limits.open_files));
  if (*limits.open_files >= kFewFiles) return say.good("open-files", found);
  const int64_t hard = limits.open_files_hard.value_or(kEnoughFiles);
  const bool own = hard > *limits.open_files;
  say.add("open-files", *limits.open_files < kTooFewFiles ? Fit::kWrong : Fit::kDoubtful, found,
          {"each worker, shard and shared tensor takes some; beyond the limit a file is refused in "
           "the middle of an epoch",
           own ? fmt::format("in the shell that starts the training: ulimit -n {}",
                             std::min(hard, kEnoughFiles))
               : "the hard limit is as low: raise it in /etc/security/limits.conf, in a container "
                 "with docker run --ulimit nofile=65536",
           "limits-or-disk-full"});
}

void judge_addresses(const MachineFacts& facts, Say& say) {
  const MemoryFacts& limits = facts.memory;
  if (!limits.address_bytes) return;
  const std::string found = fmt::format("a process may have {} of addresses (ulimit -v)",
                                        size_text(double(*limits.address_bytes)));
  if (*limits.address_bytes >= kFewAddresses) return say.good("addresses", found);
  const bool gpu = !facts.gpu.gpus.empty();
  const bool wrong = gpu || *limits.address_bytes < 8 * kGiB;
  say.add("addresses", wrong ? Fit::kWrong : Fit::kDoubtful, found,
          {"libraries set aside far more addresses than memory, CUDA many times the machine's "
           "memory: without them they crash when they are loaded",
           "ulimit -v unlimited; to limit memory, use a cgroup instead (systemd-run -p "
           "MemoryMax=16G)",
           "limits-or-disk-full"});
}

void judge_processes(const MemoryFacts& limits, Say& say) {
  if (!limits.processes || *limits.processes >= kFewProcesses) return;
  say.doubtful("processes",
               fmt::format("{} processes and threads are allowed to this user (ulimit -u)",
                           with_commas(*limits.processes)),
               {"each worker has a pool of threads; where none can be started, libraries hang or "
                "end the process",
                "ulimit -u 4096, or raise it in /etc/security/limits.conf", "limits-or-disk-full"});
}

}  // namespace

void judge_limits(const MachineFacts& facts, CheckLines& lines) {
  Say say(CheckTopic::kMemory, lines);
  judge_files(facts.memory, say);
  judge_addresses(facts, say);
  judge_processes(facts.memory, say);
}

}  // namespace headway
