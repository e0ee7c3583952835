#include <fmt/format.h>

#include <algorithm>

#include "headway/core/text.h"
#include "headway/doctor/rules/counters.h"

namespace headway {
namespace {

constexpr double kGrowth = 0.01;      // of a step's time per 100 steps
constexpr double kWorthSaying = 1.2;  // end relative to beginning
constexpr double kSure = 4;           // standard errors
constexpr size_t kEnoughStretches = 8;
constexpr int64_t kLongEpoch = 2000;
constexpr double kTimesLonger = 3;
constexpr double kMostOfIt = 0.5;
constexpr double kPlainly = 1.8, kToBeSureS = 60;
constexpr double kCrowded = 0.3;        // of the time in which threads were ready to run
constexpr double kWorthOfAStep = 0.15;  // growth relative to a step, including its wait for data

// Another process takes the cores: threads wait for them longer than before, and do not do more. If
// they mostly wait, more CPU time means nothing: threads that wait for each other spin.
bool neighbours_came(const std::vector<Stretch>& parts) {
  const size_t half = parts.size() / 2;
  double cpu[2] = {}, queued[2] = {}, own[2] = {};
  for (size_t i = 0; i < parts.size(); ++i) {
    cpu[i >= half] += parts[i].cpu_s;
    queued[i >= half] += parts[i].queued_s;
    own[i >= half] += parts[i].own_s;
  }
  const double grown = own[1] - own[0];
  const bool crowded = queued[1] > kCrowded * (cpu[1] + queued[1]);
  const bool waits_more = queued[1] - queued[0] > kMostOfIt * grown;
  return waits_more && (crowded || cpu[1] - cpu[0] < kMostOfIt * grown);
}

}  // namespace

std::optional<Finding> step_time_grows(const Evidence& e) {
  std::vector<Stretch> parts = stretches(e.trace, 24, false);
  if (!e.steady() || parts.size() < kEnoughStretches) return std::nullopt;
  std::vector<double> step, own;
  for (const Stretch& part : parts) step.push_back(part.step), own.push_back(part.own_s);
  const Line line = fit_line(step, own);
  const double begin = line.at + line.slope * step.front();
  const double end = line.at + line.slope * step.back();
  if (neighbours_came(parts)) return std::nullopt;
  // A neighbour that shares caches looks the same for a while: smaller growth needs a minute.
  if (end < kPlainly * begin && e.seconds < kToBeSureS) return std::nullopt;
  if (begin <= 0 || line.slope * 100 < kGrowth * begin || line.slope < kSure * line.noise ||
      end < kWorthSaying * begin || end - begin < kWorthOfAStep * e.step_s()) {
    return std::nullopt;
  }
  return Finding{
      .cause = Cause::kStepTimeGrows,
      .severity = end > 2 * begin ? Severity::kHigh : Severity::kWarning,
      .confidence = std::min(0.95, 0.5 + line.r2 / 2),
      .summary = fmt::format("steps become slower: {} at step {:.0f}, {} at step {:.0f}",
                             duration_text(begin), step.front(), duration_text(end), step.back()),
      .evidence = {fmt::format("{:.1f}% per 100 steps, in {} stretches (R2 {:.2f}); "
                               "waiting for data is not counted",
                               100 * 100 * line.slope / begin, parts.size(), line.r2)},
      .where = e.share(StepPhase::kCallbacks) > 0.2 ? "callbacks" : "the step",
      .fix =
          "look for what the program adds in every step: losses kept as tensors (keep loss.item() "
          "instead), lists that grow and are searched, datasets or functions made inside the loop",
      .predicted_gain = e.own_s() / begin};
}

// The length of an epoch is not known, and it has not ended so far.
std::optional<Finding> epoch_never_ends(const Evidence& e) {
  if (e.run.steps_per_epoch >= 0 || !e.running() || !e.steady()) return std::nullopt;
  double longest = 0;
  for (const TraceEpoch& epoch : e.trace.epochs) longest = std::max(longest, double(epoch.steps));
  const auto now = double(e.last.step_in_epoch);
  if (now < kLongEpoch || now < kTimesLonger * longest) return std::nullopt;
  return Finding{
      .cause = Cause::kEpochNeverEnds,
      .severity = longest > 0 ? Severity::kWarning : Severity::kInfo,
      .confidence = longest > 0 ? 0.8 : 0.5,
      .summary =
          fmt::format("epoch {} has had {} steps so far and may never end: its length is not known",
                      e.last.epoch + 1, e.last.step_in_epoch),
      .evidence = {longest > 0 ? fmt::format("the longest epoch so far had {:.0f}", longest)
                               : "the dataset does not know its length: a generator or a filter",
                   fmt::format("{} so far", duration_text(e.last.at_s))},
      .where = "dataset",
      .fix = "set .steps_per_epoch in fit's options, or let the generator of the dataset end"};
}

}  // namespace headway
