#include <fmt/format.h>

#include <algorithm>

#include "headway/core/text.h"
#include "headway/doctor/rules/counters.h"

namespace headway {
namespace {

constexpr double kFaultsPerS = 100;
constexpr double kAllStalled = 0.10, kSomeStalled = 0.05;  // of the time, waiting for memory (PSI)
constexpr double kNearlyFull = 0.95;
constexpr double kStraight = 0.9;  // R^2
constexpr double kLeakBytes = 64e6, kLeakShare = 0.10;
constexpr size_t kEnoughStretches = 8;

}  // namespace

std::optional<Finding> pressure(const Evidence& e) {
  if (e.seconds < kMinSeconds) return std::nullopt;
  const SystemReading &a = e.first.system, &b = e.last.system;
  const double faults = double(b.major_faults - a.major_faults) / e.seconds;
  const double full = (b.memory_full_s - a.memory_full_s) / e.seconds;
  const double some = (b.memory_some_s - a.memory_some_s) / e.seconds;
  // Page faults alone may come from a mapped file that is read for the first time.
  const bool swaps = faults >= kFaultsPerS && (b.swap_bytes > 0 || some >= kSomeStalled);
  if (!swaps && full < kAllStalled) return std::nullopt;
  return Finding{
      .cause = Cause::kHostMemoryPressure,
      .severity = full >= kAllStalled ? Severity::kHigh : Severity::kWarning,
      .confidence = 0.9,
      .summary =
          "the machine is short of memory and reads memory pages back from disk again and again",
      .evidence = {fmt::format("{:.0f} major faults per second, {} swapped out", faults,
                               size_text(double(b.swap_bytes))),
                   fmt::format("everything stood still for memory {:.0f}% of the time, something "
                               "{:.0f}%",
                               100 * full, 100 * some),
                   fmt::format("{} in use, {} of it held by the feed",
                               size_text(double(b.rss_bytes)),
                               size_text(double(e.last.feed_ram_bytes)))},
      .where = e.last.feed_ram_bytes > b.rss_bytes / 4 ? "buffers of the feed" : "",
      .fix =
          "use smaller buffers (a lower ram_budget_bytes, shuffle before decoding, no cache()), a "
          "smaller batch, or a machine with more memory"};
}

std::optional<Finding> memory_limit(const Evidence& e) {
  const auto used = double(e.last.system.rss_bytes);
  const auto left = double(e.last.system.available_bytes);
  if (used <= 0 || left <= 0 || used < kNearlyFull * (used + left)) return std::nullopt;
  return Finding{
      .cause = Cause::kMemoryLimit,
      .severity = Severity::kHigh,
      .confidence = 0.8,
      .summary = fmt::format("memory is nearly used up: {} in use, {} left", size_text(used),
                             size_text(left)),
      .evidence = {fmt::format("the feed holds {}", size_text(double(e.last.feed_ram_bytes)))},
      .where = "this process",
      .fix =
          "raise the container's memory limit, make the batch smaller, or give the dataset a "
          "smaller ram_budget_bytes"};
}

std::optional<Finding> leak(const Evidence& e) {
  const std::vector<Stretch> parts = stretches(e.trace, 32, false);
  if (!e.steady() || parts.size() < kEnoughStretches) return std::nullopt;
  std::vector<double> step, bytes;
  for (size_t i = parts.size() / 4; i < parts.size(); ++i) {  // allocators settle first
    step.push_back(parts[i].step);
    bytes.push_back(parts[i].rss_bytes);
  }
  const Line line = fit_line(step, bytes);
  const double grown = bytes.back() - bytes.front();
  if (line.r2 < kStraight || line.slope <= 0) return std::nullopt;
  if (grown < kLeakBytes || grown < kLeakShare * bytes.front()) return std::nullopt;
  const auto& operators = e.run.operators;
  if (std::any_of(operators.begin(), operators.end(), [](const OpFacts& op) { return op.keeps; })) {
    return std::nullopt;
  }
  const double lasts = double(e.last.system.available_bytes) / line.slope;
  return Finding{.cause = Cause::kHostMemoryLeak,
                 .severity = Severity::kWarning,
                 .confidence = 0.8,
                 .summary = fmt::format("memory grows with every step: {} in {:.0f} steps",
                                        size_text(grown), step.back() - step.front()),
                 .evidence = {fmt::format("{} per step, in a straight line (R2 {:.2f})",
                                          size_text(line.slope), line.r2),
                              fmt::format("what is left lasts for about {:.0f} more steps", lasts)},
                 .where = e.run.callbacks.empty() ? "" : "callbacks, or a loss kept with its graph",
                 .fix =
                     "keep numbers instead of tensors: append loss.item(), not loss, and do not "
                     "collect tensors in callbacks"};
}

}  // namespace headway
