#include <fmt/format.h>

#include <algorithm>

#include "headway/core/text.h"
#include "headway/doctor/rules/counters.h"

namespace headway {
namespace {

constexpr double kMostlyWaits = 0.5;      // CPU time relative to the workers' busy time
constexpr double kNoCore = 0.20;          // of the time in which threads were ready to run
constexpr double kTooManyThreads = 2.0;   // asked for, per core
constexpr double kTooManyRunnable = 1.5;  // actually ready to run, per core
constexpr double kSlowedDown = 0.10;      // of the time, by power or heat
constexpr double kSlowClock = 0.85;       // relative to the full clock
constexpr double kWorthThreads = 5e-3;    // a shorter step gains nothing from threads

}  // namespace

// The run itself has more threads than cores; neighbours that take the cores are another cause.
std::optional<Finding> thread_oversubscription(const Evidence& e) {
  if (!e.steady()) return std::nullopt;
  const double cpu = e.last.system.cpu_s - e.first.system.cpu_s;
  const double waiting = e.last.system.run_queue_wait_s - e.first.system.run_queue_wait_s;
  // Workers that mostly wait do not compete for cores, however many there are.
  const bool feed_waits = e.cpu_per_step_s() < kMostlyWaits * e.feed().work_s;
  const double feed =
      feed_waits ? std::min(double(e.last.feed_threads), e.cpus()) : double(e.last.feed_threads);
  const double asked = double(e.run.compute_threads) + feed;
  const double runnable = (cpu + waiting) / e.seconds;
  if (waiting < kNoCore * (cpu + waiting) || asked <= kTooManyThreads * e.cpus() ||
      runnable < kTooManyRunnable * e.cpus()) {
    return std::nullopt;
  }
  return Finding{
      .cause = Cause::kThreadOversubscription,
      .severity = Severity::kWarning,
      .confidence = 0.8,
      .summary = fmt::format("{:.0f} threads share {:.3g} cores and get in each other's way", asked,
                             e.cpus()),
      .evidence = {fmt::format("ready threads had no core {:.0f}% of their time",
                               100 * waiting / (cpu + waiting)),
                   fmt::format("{:.1f} threads wanted to run at a time", runnable)},
      .where = fmt::format("{} compute threads, {} feed threads", e.run.compute_threads,
                           e.last.feed_threads),
      .fix =
          "leave out .threads in fit's options, --intra-op and OMP_NUM_THREADS to have numbers "
          "chosen that fit, or set each to the number of cores or less"};
}

std::optional<Finding> single_core(const Evidence& e) {
  if (!e.steady() || e.run.on_gpu() || e.own_s() < kWorthThreads) return std::nullopt;
  if (e.waiting_share() > 0.1) return std::nullopt;
  const bool pinned = e.run.cpus <= 1 && e.run.machine_cores > 1 && !e.run.cpu_quota;
  const bool told = e.run.compute_threads == 1 && e.run.cpus >= 2;
  if (!pinned && !told) return std::nullopt;
  const double cores = pinned ? double(e.run.machine_cores) : e.cpus();
  return Finding{.cause = Cause::kSingleCoreAffinity,
                 .severity = Severity::kWarning,
                 .confidence = told ? 0.7 : 0.8,
                 .summary = pinned ? "the process is allowed to use only one core"
                                   : "one thread computes while other cores could help",
                 .evidence = {fmt::format("{:.2f} cores used of {:.3g}", e.cores_used(), cores),
                              fmt::format("{} of computing per step", duration_text(e.own_s()))},
                 .where = pinned ? "CPU affinity" : "FitOptions.threads.intra_op = 1",
                 .fix = pinned ? "start it without `taskset`, or give the container more cores "
                                 "(docker run --cpuset-cpus)"
                               : "leave threads.intra_op (--intra-op, OMP_NUM_THREADS) unset"};
}

std::optional<Finding> gpu_not_used(const Evidence& e) {
  if (!e.steady() || e.run.on_gpu() || e.run.gpu.empty()) return std::nullopt;
  if (e.run.purpose != Purpose::kTrain) return std::nullopt;
  return Finding{
      .cause = Cause::kGpuNotUsed,
      .severity = Severity::kInfo,  // may be intended
      .confidence = 0.9,
      .summary = fmt::format("{} is available, but the training does not use it", e.run.gpu),
      .evidence = {fmt::format("device {}, {:.2f} of {:.3g} cores used", e.run.device,
                               e.cores_used(), e.cpus())},
      .where = "device",
      .fix =
          "train with --device cuda (.device = \"cuda\" in ModelOptions); if the GPU cannot be "
          "used, the error says why"};
}

std::optional<Finding> gpu_throttled(const Evidence& e) {
  const GpuReading &a = e.first.gpu, &b = e.last.gpu;
  if (!e.steady() || b.full_clock_mhz <= 0) return std::nullopt;
  const double share = (b.throttled_s - a.throttled_s) / e.seconds;
  const double clock = b.clock_mhz / b.full_clock_mhz;
  if (share < kSlowedDown || clock >= kSlowClock) return std::nullopt;
  return Finding{.cause = Cause::kGpuThrottledOrShared,
                 .severity = Severity::kWarning,
                 .confidence = 0.85,
                 .summary = fmt::format(
                     "power or temperature limits slow the GPU down to {:.0f}% of its clock speed",
                     100 * clock),
                 .evidence = {fmt::format("slowed down {:.0f}% of the time; {:.0f} of {:.0f} MHz",
                                          100 * share, b.clock_mhz, b.full_clock_mhz)},
                 .where = e.run.gpu,
                 .fix =
                     "see which limit it is with `nvidia-smi -q -d PERFORMANCE,POWER`, then "
                     "improve the GPU's cooling or raise its power limit",
                 .predicted_gain = 1 / clock};
}

}  // namespace headway
