#include "cli/bottleneck.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "headway/core/clock.h"

namespace headway::cli {
namespace {

constexpr double kFull = 0.85;         // of the cores there are: nothing is left to gain
constexpr double kWorthSaying = 0.25;  // of the workers' time

double seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
}

// Second number of each thread's schedstat; 0 where the kernel keeps none.
double core_wait_s() {
  double total_ns = 0;
  std::error_code gone;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", gone)) {
    std::ifstream file(thread.path() / "schedstat");
    double on_cpu_ns = 0, waiting_ns = 0;
    if (file >> on_cpu_ns >> waiting_ns) total_ns += waiting_ns;
  }
  return total_ns * 1e-9;
}

// The operator or source that takes most of the workers' time.
std::pair<std::string, double> slowest(const PipelineStats& stats) {
  std::pair<std::string, double> worst{"", 0};
  const auto consider = [&](const std::string& name, double spent) {
    if (spent > worst.second) worst = {name, spent};
  };
  for (const StageStats& stage : stats.stages) {
    consider("reading for " + stage.name, stage.input_s);
    double named = 0;
    for (const OpStats& op : stage.ops) {
      consider(op.name, op.busy_ns * 1e-9);
      named += op.busy_ns * 1e-9;
    }
    consider(stage.name, stage.busy_s - named);
  }
  return worst;
}

}  // namespace

Usage usage_now() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return {static_cast<double>(now_ns()) * 1e-9, seconds(usage.ru_utime) + seconds(usage.ru_stime),
          core_wait_s()};
}

PipelineStats since(const PipelineStats& later, const PipelineStats& earlier) {
  PipelineStats out = later;
  out.taken -= earlier.taken;
  out.running_s -= earlier.running_s;
  out.waiting_s -= earlier.waiting_s;
  out.elsewhere_s -= earlier.elsewhere_s;
  for (size_t i = 0; i < std::min(out.stages.size(), earlier.stages.size()); ++i) {
    StageStats& stage = out.stages[i];
    const StageStats& before = earlier.stages[i];
    stage.elements_in -= before.elements_in;
    stage.elements_out -= before.elements_out;
    stage.dropped -= before.dropped;
    stage.bytes_out -= before.bytes_out;
    stage.busy_s -= before.busy_s;
    stage.input_s -= before.input_s;
    for (size_t k = 0; k < stage.ops.size(); ++k) stage.ops[k].busy_ns -= before.ops[k].busy_ns;
  }
  return out;
}

double working_s(const PipelineStats& stats) {
  double total = 0;
  for (const StageStats& stage : stats.stages) total += stage.busy_s + stage.input_s;
  return total;
}

Bottleneck find_bottleneck(const PipelineStats& stats, const Usage& used, const Limits& limits) {
  const double working = working_s(stats);
  const auto [name, spent] = slowest(stats);
  const double share = working > 0 ? 100 * spent / working : 0;
  const double cores = used.cpu_s / used.wall_s;
  const double usable = std::min<double>(std::max(1, stats.threads), limits.cpus);
  const double blocked = std::max(0.0, working - used.cpu_s - used.core_wait_s);
  if (stats.elsewhere_s > 0.5 * stats.running_s) {
    return {"consumer", "the consumer: batches are ready before they are asked for"};
  }
  if (cores >= kFull * usable) {
    return {"cpu", fmt::format("CPU: {:.2f} of {:.2g} cores at work, {:.0f}% of it in {}", cores,
                               usable, share, name)};
  }
  if (used.core_wait_s > kWorthSaying * working) {
    return {
        "cores",
        fmt::format("other programs: the workers were ready but had no core {:.0f}% of their time; "
                    "with all cores it would be CPU-bound in {}",
                    100 * used.core_wait_s / working, name)};
  }
  if (blocked > kWorthSaying * working) {
    return {"blocked",
            fmt::format("waiting for storage: workers were blocked {:.0f}% of their time in {}",
                        100 * blocked / working, name)};
  }
  return {"source",
          fmt::format("too little work in flight: {:.2f} of {:.2g} cores used, most time in {}",
                      cores, usable, name)};
}

}  // namespace headway::cli
