#include <fmt/format.h>

#include <algorithm>

#include "headway/core/text.h"
#include "headway/doctor/rules/observed.h"

namespace headway {

std::optional<Finding> cpu_quota(const Observations& o) {
  constexpr double kThrottled = 0.10, kMuch = 0.25;  // of the quota's periods
  constexpr int64_t kEnoughPeriods = 20;
  const Evidence& e = o.counters;
  if (o.trace.samples.empty() || (o.inside() && !e.steady())) return std::nullopt;
  const SystemReading& first = o.inside() ? e.first.system : o.trace.samples.front().system;
  const SystemReading& last = o.inside() ? e.last.system : o.trace.samples.back().system;
  const int64_t periods = last.quota_periods - first.quota_periods;
  const int64_t throttled = last.throttled_count - first.throttled_count;
  if (periods < kEnoughPeriods) return std::nullopt;
  const double share = double(throttled) / double(periods);
  if (share < kThrottled) return std::nullopt;
  Finding f{
      .cause = Cause::kCpuQuota,
      .severity = share >= kMuch ? Severity::kHigh : Severity::kWarning,
      .confidence = 0.95,
      .summary = fmt::format("the CPU quota stops the run in {:.0f}% of its periods", 100 * share),
      .evidence = {fmt::format("{} of {} periods throttled; {}", throttled, periods,
                               e.run.cpu_source.empty() ? "quota not known" : e.run.cpu_source)},
      .where = "cgroup of the process",
      .fix = "raise the container's CPU limit, or use as many threads and workers as it has cores"};
  if (o.inside())
    f.evidence.push_back(
        fmt::format("{} threads want to run ({} compute, {} feed), {:.2f} cores used",
                    e.run.compute_threads + e.last.feed_threads, e.run.compute_threads,
                    e.last.feed_threads, e.cores_used()));
  return f;
}

// The user asked for validation: it is only a fault if it takes more time than training.
std::optional<Finding> hidden_validation(const Observations& o) {
  constexpr double kMostOfIt = 0.5, kOnlyThat = 0.8, kLongS = 10;
  const Evidence& e = o.counters;
  const Share all = o.ledger.alone({Account::kValidates});
  const double share = o.inside() ? e.share(StepPhase::kValidation) : all.share;
  const double late = o.late.of(Account::kValidates).share;
  const bool now = o.inside() ? e.last.phase == RunPhase::kValidation && e.last.phase_s >= kLongS
                              : late >= kOnlyThat;
  const bool enough =
      o.inside() ? e.steady() : o.ledger.is_enough() && o.ledger.seconds() >= kLongS;
  const bool most = enough && share >= kMostOfIt;
  if (!most && !(now && o.running())) return std::nullopt;
  Finding f{.cause = Cause::kHiddenValidation,
            .severity = most ? Severity::kWarning : Severity::kInfo,
            .confidence = 0.9,
            .summary = most ? fmt::format("validation takes {:.0f}% of the time", 100 * share)
                            : "not stuck: it is validating",
            .evidence = {fmt::format("{:.0f}% of the training thread's time recently, {}",
                                     100 * late, share_text(all))},
            .where = o.ledger.where(Account::kValidates),
            .fix =
                "validate less often or on fewer samples: validation_freq or validation_steps "
                "(Keras), val_check_interval (Lightning), validation_every (Headway)"};
  if (most) f.predicted_gain = gain_without(share);
  if (f.where.empty()) f.where = "validation";
  return f;
}

}  // namespace headway
