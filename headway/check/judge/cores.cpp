#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headway/check/judge/judge.h"
#include "headway/check/judge/say.h"

namespace headway {
namespace {

constexpr double kFarTooMany = 2;       // threads for each core: they mostly wait for each other
constexpr double kCoresWorthUsing = 4;  // from here on one thread is a waste

int64_t whole_cores(const CoreFacts& cores) {
  return std::max<int64_t>(1, static_cast<int64_t>(std::floor(cores.usable + 1e-6)));
}

std::string cores_text(int64_t n) { return fmt::format("{} core{}", n, n == 1 ? "" : "s"); }

void judge_affinity(const CoreFacts& cores, Say& say) {
  const std::string found =
      fmt::format("this process may use {} of the {} cores", cores.allowed, cores.online);
  if (cores.online == 1)
    return say.doubtful("cores", "this machine has one core",
                        {"reading data and training share it",
                         "use a machine with more cores, or prepare the data beforehand"});
  if (cores.allowed > 1) return say.good("cores", found);
  say.wrong("cores", found,
            {"workers, data pipeline and training share one core, while the others are idle",
             fmt::format("start it without taskset; a scheduler gives more by its options (sbatch "
                         "--cpus-per-task=8); for this shell: taskset -cp 0-{} $$",
                         cores.online - 1),
             "single-core-affinity"});
}

void judge_quota(const CoreFacts& cores, Say& say) {
  if (!cores.groups_seen)
    return say.not_seen(
        "cpu-quota", "the groups of this process cannot be read (/proc/self/cgroup)",
        {"a quota of CPU time, or a limit of memory, would not be seen",
         "ask where it was set: docker inspect, kubectl describe pod, scontrol show "
         "job"});
  if (!cores.quota) return;
  const std::string found = fmt::format("a cgroup's quota gives {:.3g} cores' worth of time, on {}",
                                        cores.usable, cores_text(cores.allowed));
  const std::string remedy = fmt::format(
      "raise the limit (docker run --cpus, Kubernetes' limits.cpu), better whole cores (docker run "
      "--cpuset-cpus=0-7); until then: export OMP_NUM_THREADS={0}, num_workers={0}",
      whole_cores(cores));
  const Say::Advice advice{
      "programs start a thread for each core they see; when the quota is used "
      "up, all of them are stopped until the next period",
      remedy, "cpu-quota"};
  say.add("cpu-quota", cores.usable < 1 ? Fit::kWrong : Fit::kDoubtful, found, advice);
}

void judge_setting(const CoreFacts& cores, const SeenThreadSetting& setting, Say& say) {
  const double threads = double(setting.threads);
  const bool inter = setting.text.find("INTEROP") != std::string::npos;
  if (threads > cores.usable + 0.99) {
    const std::string name = setting.text.substr(0, setting.text.find('='));
    say.add("threads", threads > kFarTooMany * cores.usable ? Fit::kWrong : Fit::kDoubtful,
            fmt::format("{} on {:.3g} cores", setting.text, cores.usable),
            {"more busy threads than cores push each other aside, and wait for each other while "
             "they spin",
             fmt::format("export {}={}, or unset {}", name, whole_cores(cores), name),
             "thread-oversubscription"});
  } else if (setting.threads == 1 && !inter && cores.usable >= kCoresWorthUsing) {
    say.doubtful("threads", fmt::format("{} on {:.3g} cores", setting.text, cores.usable),
                 {"what is computed on the CPU uses one core; right for the workers of a loader, "
                  "wrong for a training",
                  fmt::format("unset {}", setting.text.substr(0, setting.text.find('='))),
                  "single-core-affinity"});
  } else {
    say.good("threads", setting.text);
  }
}

}  // namespace

void judge_cores(const MachineFacts& facts, CheckLines& lines) {
  const CoreFacts& cores = facts.cores;
  Say say(CheckTopic::kCores, lines);
  judge_affinity(cores, say);
  judge_quota(cores, say);
  for (const SeenThreadSetting& each : cores.settings) judge_setting(cores, each, say);
  for (const auto& [name, value] : cores.invalid)
    say.doubtful("threads", fmt::format("{}='{}' is no number of threads", name, value),
                 {"libraries ignore it, each in its own way, and choose for themselves",
                  fmt::format("export {}={}, or unset {}", name, whole_cores(cores), name),
                  "thread-oversubscription"});
}

}  // namespace headway
