#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "headway/core/median.h"
#include "headway/core/text.h"
#include "headway/doctor/rules/counters.h"

namespace headway {
namespace {

constexpr double kDiverges = 1.5;  // the loss at the end relative to the beginning
constexpr double kAboveBest = 2;   // and relative to the lowest in between
constexpr double kFlat = 0.01;     // a smaller relative change counts as none
constexpr double kLearnt = 1.15;   // first losses relative to the last: less is nothing learnt
constexpr double kLossesToDiverge = 50, kLossesToBeFlat = 300;
constexpr int64_t kSamplesToBeFlat = 3000;  // a step with few samples teaches little
constexpr double kTinyRate = 1e-5;
constexpr double kTinyUpdate = 1e-6;  // of a weight, in one step
constexpr size_t kEnoughStretches = 4;

struct LossCourse {
  double first = 0, last = 0, best = 0, worst = 0, losses = 0;
};

// Means over eighths of the run, from eighth `since` on; losses below zero have no ratios.
std::optional<LossCourse> loss_course(const Evidence& e, size_t since = 0) {
  const std::vector<Stretch> parts = stretches(e.trace, 8, true);
  LossCourse course;
  for (const Stretch& part : std::span(parts).subspan(std::min(since, parts.size()))) {
    if (part.losses == 0) continue;
    if (part.loss <= 0) return std::nullopt;
    if (course.losses == 0) course.first = course.best = course.worst = part.loss;
    course.last = part.loss;
    course.best = std::min(course.best, part.loss);
    course.worst = std::max(course.worst, part.loss);
    course.losses += part.losses;
  }
  if (parts.size() < kEnoughStretches || course.losses == 0) return std::nullopt;
  return course;
}

std::string rate_words(const Evidence& e) {
  return e.last.learning_rate > 0 ? fmt::format("learning rate {:.2g}", e.last.learning_rate)
                                  : "learning rate not known";
}

}  // namespace

std::optional<Finding> rate_too_high(const Evidence& e) {
  const auto course = loss_course(e);
  const bool bad = e.last.bad_losses > 0;
  if (!course || e.run.resumed || (course->losses < kLossesToDiverge && !bad)) return std::nullopt;
  const double end = bad ? course->worst : course->last;
  if (end < kDiverges * course->first || end < kAboveBest * course->best) return std::nullopt;
  return Finding{
      .cause = Cause::kLearningRate,
      .severity = bad ? Severity::kCritical : Severity::kHigh,
      .confidence = 0.85,
      .summary = "the loss grows: the learning rate is too high",
      .evidence = {fmt::format("loss {:.4g} at first, {:.4g} at best, {:.4g} at {}", course->first,
                               course->best, end, bad ? "worst, then not a number" : "the end"),
                   rate_words(e)},
      .where = e.run.optimizer,
      .fix = e.last.learning_rate > 0
                 ? fmt::format("try a learning rate of {:.1g}; clip gradients (--clip-norm; .clip "
                               "in the optimizer's options)",
                               e.last.learning_rate / 10)
                 : "try a tenth of the learning rate; clip gradients (--clip-norm; .clip in the "
                   "optimizer's options)"};
}

std::optional<Finding> not_a_number(const Evidence& e) {
  if (e.last.bad_losses == 0) return std::nullopt;
  const bool at_once = e.last.first_bad_step <= 1;
  const std::string origin = e.note(NoteKind::kNanOrigin).value_or("");
  return Finding{
      .cause = Cause::kNanLoss,
      .severity = Severity::kCritical,
      .confidence = 1,
      .summary =
          fmt::format("the loss has been NaN (not a number) since step {}", e.last.first_bad_step),
      .evidence = {fmt::format("{} of {} losses", e.last.bad_losses,
                               e.last.bad_losses + e.last.losses),
                   origin.empty() ? rate_words(e) : "it came from " + origin},
      .where = origin.empty() ? fmt::format("step {}", e.last.first_bad_step)
                              : fmt::format("step {}: {}", e.last.first_bad_step, origin),
      .fix = at_once ? "it was NaN in the first step already: check the data for NaN, and the loss "
                       "function for a log of 0 or a division by 0"
                     : "use a smaller learning rate and clip gradients (--clip-norm; .clip in the "
                       "optimizer's options); the callback TerminateOnNaN() ends such a run early"};
}

namespace {

// Means over an eighth hide a quick start; the first reading does not.
double loss_at_first(const Trace& trace) {
  const auto begun = std::find_if(trace.samples.begin(), trace.samples.end(),
                                  [](const TraceReading& s) { return s.losses > 0; });
  return begun == trace.samples.end() ? 0 : begun->loss_sum / double(begun->losses);
}

// Enough steps; the loss has not changed since the first eighth of them, and is where it began.
std::optional<LossCourse> flat_loss(const Evidence& e) {
  auto course = loss_course(e, 1);
  if (!course || e.run.resumed || course->losses < kLossesToBeFlat) return std::nullopt;
  if (e.last.bad_losses > 0) return std::nullopt;
  if (e.last.samples > 0 && e.last.samples < kSamplesToBeFlat) return std::nullopt;
  if (course->worst - course->best > 2 * kFlat * course->last) return std::nullopt;
  course->first = loss_at_first(e.trace);
  if (course->first > kLearnt * course->last) return std::nullopt;
  return course;
}

std::string flat_words(const LossCourse& course) {
  return fmt::format("loss {:.5g} at first, {:.5g} at the end, over {:.0f} steps", course.first,
                     course.last, course.losses);
}

// How far a kernel usually moves in a step, relative to its size: the median.
double usual_update(const Evidence& e) {
  std::vector<double> ratios;
  for (const NumbersReading& look : e.trace.numbers) {
    for (size_t i = 0; i < std::min(look.updates.size(), look.weights.size()); ++i) {
      if (i < e.trace.weights.size() && e.trace.weights[i].kernel && look.weights[i] > 0 &&
          look.updates[i] >= 0) {
        ratios.push_back(look.updates[i] / look.weights[i]);
      }
    }
  }
  return ratios.empty() ? -1 : median(std::move(ratios));
}

}  // namespace

std::optional<Finding> rate_too_low(const Evidence& e) {
  const auto course = flat_loss(e);
  const double rate = e.last.learning_rate;
  const double moved = usual_update(e);
  const bool tiny = moved >= 0 ? moved < kTinyUpdate : rate < kTinyRate;
  if (!course || rate <= 0 || !tiny) return std::nullopt;
  return Finding{
      .cause = Cause::kLearningRate,
      .severity = Severity::kWarning,
      .confidence = 0.75,
      .summary = "the loss hardly moves: the learning rate is too low",
      .evidence = {flat_words(*course),
                   moved >= 0 ? fmt::format("{}: a step moves a weight by {:.1g} of itself",
                                            rate_words(e), moved)
                              : rate_words(e)},
      .where = e.run.optimizer,
      .fix = "try the optimizer's usual learning rate (Adam 1e-3, SGD 1e-2)"};
}

std::optional<Finding> rate_is_zero(const Evidence& e) {
  if (!flat_loss(e) || e.last.learning_rate != 0 || e.run.optimizer.empty()) return std::nullopt;
  return Finding{
      .cause = Cause::kWeightsNotUpdated,
      .severity = Severity::kHigh,
      .confidence = 0.9,
      .summary = "the learning rate is 0: the weights do not change",
      .evidence = {flat_words(*flat_loss(e))},
      .where = e.run.optimizer,
      .fix = "set a learning rate above 0, or check the schedule and the callbacks that change it"};
}

std::optional<Finding> loss_frozen(const Evidence& e) {
  const auto course = flat_loss(e);
  if (!course || rate_too_low(e) || rate_is_zero(e)) return std::nullopt;
  return Finding{
      .cause = Cause::kLossFrozen,
      .severity = Severity::kWarning,
      .confidence = 0.6,
      .summary = "nothing is learnt: the loss stays where it began",
      .evidence = {flat_words(*course), rate_words(e)},
      .where = "loss",
      .fix =
          "check that labels belong to their samples, that inputs are scaled, and that the last "
          "layer fits the loss; then try a learning rate ten times higher and ten times lower"};
}

}  // namespace headway
