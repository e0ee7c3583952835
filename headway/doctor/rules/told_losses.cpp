// What the losses show that a program printed or kept in its variables.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headway/doctor/rules/observed.h"

namespace headway {
namespace {

constexpr size_t kFewNegative = 3, kFew = 8, kMany = 16, kVeryMany = 48;
constexpr size_t kFewMeans = 5;
constexpr double kSameMeans = 0.002, kSettledS = 10;
constexpr double kSure = 4;         // standard errors
constexpr double kNoise = 0.02;     // of the loss, if nothing else changes
constexpr double kUnmoved = 0.005;  // of the loss
constexpr double kNextToNothing = 1e-3, kLearnt = 0.2, kTurns = 0.35;
constexpr double kGrown = 2, kThrown = 100, kNotBack = 1.3;
constexpr double kMostOfIt = 0.8;
constexpr double kWild = 0.5;         // swing relative to the loss itself
constexpr double kStillSwings = 0.7;  // late relative to early
constexpr double kTurnsOften = 0.5;

// Do the losses come from one model? Each result of a pool belongs to a training of its own.
bool is_one_series(const Observations& o) {
  return o.looks && (o.looks->workers() == 0 || o.looks->trains_itself());
}

std::string loss_where(const Observations& o) { return o.ledger.where(Account::kComputes); }

// The line that sets the learning rate, if the source has one.
std::string rate_where(const Observations& o) {
  const SeenFrame& at = o.looks->seen.learning_rate_at;
  return at.line > 0 ? place_text(at) : loss_where(o);
}

// Is this the loss of guessing among some number of classes?
bool is_chance(double loss) {
  constexpr int kMostClasses = 20;
  constexpr double kNear = 0.04;
  for (int classes = 2; classes <= kMostClasses; ++classes) {
    const double guess = std::log(double(classes));
    if (loss > (1 - kNear / 4) * guess && loss < (1 + kNear) * guess) return true;
  }
  return false;
}

}  // namespace

bool is_measure(const Observations& o) {
  if (!o.looks) return false;
  const SeenProgress& p = o.looks->seen.progress;
  return !p.several_losses && !p.rewards && p.bad_losses == 0 && is_one_series(o);
}

std::optional<Finding> told_nan(const Observations& o) {
  if (!o.looks || o.looks->seen.progress.bad_losses < 2) return std::nullopt;
  const SeenProgress& p = o.looks->seen.progress;
  return Finding{.cause = Cause::kNanLoss,
                 .severity = Severity::kCritical,
                 .confidence = 0.95,
                 .summary = "the loss has become NaN (not a number)",
                 .evidence = {fmt::format("told {} times; {} finite ones before and between",
                                          p.bad_losses, p.losses)},
                 .where = fmt::format("epoch {}, step {}", p.epoch, p.step),
                 .fix =
                     "use a smaller learning rate, clip gradients, and check that inputs are "
                     "finite and scaled; TerminateOnNaN ends such a run early"};
}

namespace {

// A crossentropy of three classes or more that hundreds of steps have not changed, however noisy: a
// model that learns anything gets below its first loss.
bool is_unlearnt_crossentropy(const Observations& o) {
  constexpr int64_t kManySteps = 200, kThousands = 2000;
  constexpr double kThreeClasses = 0.75, kNoisy = 0.10, kKnown = 0.015, kMoved = 0.02;
  constexpr double kByHeart = 0.04;  // can be learnt by heart from random labels
  const Losses& l = o.losses;
  const SeenProgress& p = o.looks->seen.progress;
  if (o.looks->seen.crossentropy_at.line == 0 || p.steps < kManySteps || !l.from_the_start() ||
      !is_measure(o) || l.size() < kMany)
    return false;
  const double level = l.first(), moved = std::abs(l.last() - level);
  const bool stays = moved < kSure / 2 * l.error() && moved < kMoved * level;
  return level > kThreeClasses && l.noise() < kNoisy * level && l.error() < kKnown * level &&
         (stays || (p.steps >= kThousands && moved < kByHeart * level));
}

// It has never fallen, and its noise would not hide a fall: the end of the interval that speaks for
// the model still leaves nearly all of the first loss. What fell before the first quarter was over
// shows in the very first loss.
bool never_fell(const Observations& o) {
  constexpr int64_t kManySteps = 200;
  constexpr double kHardlyFalls = 0.04, kNoisy = 0.1, kAtOnce = 0.05;
  const Losses& l = o.losses;
  if (o.looks->seen.positive_loss_at.line == 0 || o.looks->seen.progress.steps < kManySteps ||
      o.looks->training_s() < kSettledS || l.size() < kMany || !l.from_the_start() ||
      !is_measure(o))
    return false;
  const double level = l.first(), fell = level - l.last();
  const double before = std::max(o.looks->seen.progress.first_loss, l.highest_early()) - level;
  return level > kNextToNothing && l.noise() < kNoisy * level &&
         before < std::max(kSure * l.noise(), kAtOnce * level) &&
         fell + kSure / 2 * l.error() < kHardlyFalls * level;
}

// A squared error that stays at 1: that is what the mean of all labels gives if they are scaled to
// a variance of 1, however much was learnt on the way there.
bool stays_at_the_variance(const Observations& o) {
  constexpr int64_t kManySteps = 300;
  constexpr double kNear = 0.04, kKnown = 0.02, kLongS = 14;
  const Losses& l = o.losses;
  if (!o.looks || o.looks->seen.positive_loss_at.line == 0 ||
      o.looks->seen.crossentropy_at.line > 0 || o.looks->seen.progress.steps < kManySteps ||
      o.looks->training_s() < kLongS || l.size() < kMany || !is_measure(o))
    return false;
  const auto is_one = [](double loss) { return std::abs(loss - 1) < kNear; };
  return is_one(l.middle()) && is_one(l.last()) && l.error() < kKnown &&
         std::abs(l.last() - l.middle()) < std::max(kSure / 2 * l.error(), kUnmoved);
}

}  // namespace

// It has not moved since the first loss, beyond its own small noise.
std::optional<Finding> told_frozen(const Observations& o) {
  const Losses& l = o.losses;
  if (l.size() < kFewMeans || o.looks->seen.progress.bad_losses > 0) return std::nullopt;
  if (std::abs(l.first()) < kNextToNothing) return std::nullopt;
  const bool exact = l.size() >= kFew && l.same_to_the_digit();
  const double moved = std::abs(l.last() - l.first());
  // Means over an epoch have little noise: many that go up and down without a trend say as much.
  // What was learnt before is small compared with that.
  const bool wanders =
      l.size() >= kVeryMany && l.turns() >= kTurns && std::abs(l.first()) > kLearnt;
  const bool unlearnt = moved < kSure / 2 * l.error() || wanders;
  // Means over many steps, told since the start, that agree to the third digit.
  const bool same = l.size() >= kFewMeans && l.from_the_start() && is_measure(o) &&
                    o.looks->training_s() >= kSettledS &&
                    l.highest() - l.lowest() < kSameMeans * std::abs(l.first());
  const bool flat = l.size() >= kMany && l.from_the_start() && is_measure(o) && unlearnt &&
                    moved < kUnmoved * std::abs(l.first()) &&
                    l.noise() < kNoise * std::abs(l.first());
  if (!exact && !same && !flat && !is_unlearnt_crossentropy(o) && !never_fell(o) &&
      !stays_at_the_variance(o))
    return std::nullopt;
  return Finding{
      .cause = Cause::kLossFrozen,
      .severity = Severity::kWarning,
      .confidence = exact ? 0.9 : 0.7,
      .summary =
          exact ? fmt::format("nothing is learnt: the loss is exactly {:.6g} every time", l.first())
                : fmt::format("nothing is learnt: the loss stays at {:.4g}", l.last()),
      .evidence = {fmt::format("{} losses: {:.5g} at first, {:.5g} recently, noise {:.2g}",
                               l.size(), l.first(), l.last(), l.noise())},
      .where = loss_where(o),
      .fix =
          "check that weights are trainable, that the last layer fits the loss, that labels belong "
          "to their samples, that units are not dead (always 0), and that the learning rate is "
          "neither far too high nor too low"};
}

// Nothing is learnt, and the source says why: the steps are too small to have an effect.
std::optional<Finding> told_too_low(const Observations& o) {
  constexpr double kTiny = 2e-6;
  auto frozen = told_frozen(o);
  const double rate = o.looks ? o.looks->seen.learning_rate : 0;
  if (!frozen || rate <= 0 || rate > kTiny) return std::nullopt;
  frozen->cause = Cause::kLearningRate;
  frozen->summary += fmt::format(", and the learning rate is {:g}", rate);
  frozen->where = rate_where(o);
  frozen->fix = "use a learning rate a hundred or a thousand times larger";
  return frozen;
}

// The program itself prints a learning rate that has become negligible long before the end.
std::optional<Finding> told_vanished_rate(const Observations& o) {
  constexpr int64_t kFewRates = 5;
  constexpr double kLongAgo = 1.0 / 3;  // of all rates told; a schedule may end near zero
  if (!o.looks) return std::nullopt;
  const SeenProgress& p = o.looks->seen.progress;
  if (p.vanished_rates < kFewRates || double(p.vanished_rates) < kLongAgo * double(p.rates))
    return std::nullopt;
  const std::string was = p.highest_rate > 0 ? fmt::format(", it was {:g}", p.highest_rate) : "";
  return Finding{.cause = Cause::kLearningRate,
                 .severity = Severity::kWarning,
                 .confidence = 0.8,
                 .summary = fmt::format(
                     "the learning rate is {:g}{}: too small to learn anything more", p.rate, was),
                 .evidence = {fmt::format("so small in the last {} of {} that were told",
                                          p.vanished_rates, p.rates)},
                 .where = o.looks->seen.schedule_at.line > 0 ? place_text(o.looks->seen.schedule_at)
                                                             : rate_where(o),
                 .fix =
                     "decay once per epoch instead of in every step, or decay less; give the "
                     "schedule the real number of steps"};
}

namespace {

// An untrained model that is never wrong: its output is not what the loss expects.
std::optional<Finding> told_zero(const Observations& o) {
  const Losses& l = o.losses;
  if (l.size() < kFew || !l.from_the_start() || !l.same_to_the_digit() || l.first() != 0)
    return std::nullopt;
  return Finding{
      .cause = Cause::kLossOutputMismatch,
      .severity = Severity::kHigh,
      .confidence = 0.85,
      .summary = "the loss is 0 from the first step on: nothing can be learnt from it",
      .evidence = {fmt::format("{} losses, all of them 0", l.size())},
      .where = place_text(o.looks->seen.positive_loss_at),
      .fix =
          "with one output unit, use a sigmoid and binary crossentropy (a softmax over one unit is "
          "always 1); also check for labels that are all equal and a loss that is cut off at 0"};
}

}  // namespace

// A crossentropy or a square below zero: the labels are not what the loss expects.
std::optional<Finding> told_negative(const Observations& o) {
  const Losses& l = o.losses;
  if (!o.looks || o.looks->seen.positive_loss_at.line == 0 || l.size() < kFewNegative)
    return std::nullopt;
  if (auto zero = told_zero(o)) return zero;
  if (l.last() > -kNextToNothing || l.highest_late() >= 0) return std::nullopt;
  return Finding{.cause = Cause::kLossOutputMismatch,
                 .severity = Severity::kHigh,
                 .confidence = 0.85,
                 .summary = fmt::format(
                     "the loss is {:.4g}, but this kind of loss cannot be below zero", l.last()),
                 .evidence = {fmt::format("{} losses: {:.4g} at first, {:.4g} recently", l.size(),
                                          l.first(), l.last())},
                 .where = place_text(o.looks->seen.positive_loss_at),
                 .fix =
                     "give labels as the loss expects them (0 and 1 for binary crossentropy, not "
                     "-1 and 1), and probabilities or logits, whichever it expects"};
}

std::optional<Finding> told_growing(const Observations& o) {
  const Losses& l = o.losses;
  if (!o.looks || l.size() < kFew || !is_measure(o)) return std::nullopt;
  const double first = l.from_the_start() ? o.looks->seen.progress.first_loss : l.first();
  const bool thrown = l.highest() >= kThrown * std::max(first, kNextToNothing);
  if (first < kNextToNothing || l.last() - first < kSure * l.error()) return std::nullopt;
  const double least = thrown ? kNotBack : kGrown;
  if (l.last() < least * first || l.lowest_late() < kMostOfIt * least * first) return std::nullopt;
  return Finding{
      .cause = Cause::kLearningRate,
      .severity = thrown ? Severity::kHigh : Severity::kWarning,
      .confidence = 0.75,
      .summary = fmt::format("the loss grows: {:.4g} at first, {:.4g} now", first, l.last()),
      .evidence = {fmt::format("up to {:.4g}, never below {:.4g} in the second half", l.highest(),
                               l.lowest_late())},
      .where = rate_where(o),
      .fix =
          "use a learning rate ten times smaller, clip gradients, and reset gradients in every "
          "step (zero_grad)"};
}

// A crossentropy that jumped far above guessing, came back to guessing, and got no further.
std::optional<Finding> told_thrown(const Observations& o) {
  constexpr double kFar = 3;
  const Losses& l = o.losses;
  if (!o.looks || l.size() < kFew || !is_measure(o)) return std::nullopt;
  const double level = l.last();
  if (!is_chance(level) || l.highest() < kFar * level || l.lowest_late() < (1 - kNoise) * level ||
      std::abs(l.last() - l.middle()) > kNoise * level)
    return std::nullopt;
  return Finding{
      .cause = Cause::kLearningRate,
      .severity = Severity::kHigh,
      .confidence = 0.75,
      .summary = fmt::format(
          "the loss jumped up to {:.4g} and now stays at {:.4g}, no better than guessing",
          l.highest(), level),
      .evidence = {fmt::format("{} losses: never below {:.4g} in the second half", l.size(),
                               l.lowest_late())},
      .where = rate_where(o),
      .fix = "use a learning rate ten or a hundred times smaller, with a warm-up"};
}

// What was learnt before leaves only noise: with a late start of the watch, require a high rate.
std::optional<Finding> told_oscillating(const Observations& o) {
  constexpr double kHighRate = 0.05;
  const Losses& l = o.losses;
  if (!o.looks || l.size() < kMany || !is_measure(o)) return std::nullopt;
  if (!l.from_the_start() && o.looks->seen.learning_rate < kHighRate) return std::nullopt;
  const double level = std::abs(l.last());
  if (level < kNextToNothing || l.swing(true) < kWild * level) return std::nullopt;
  if (l.swing(true) < kStillSwings * l.swing(false) || l.turns() < kTurnsOften) return std::nullopt;
  if (l.last() < kStillSwings * l.first()) return std::nullopt;  // it gets somewhere
  return Finding{
      .cause = Cause::kLossOscillates,
      .severity = Severity::kWarning,
      .confidence = 0.75,
      .summary = fmt::format("the loss swings by {:.3g} around {:.3g} and the swings do not shrink",
                             l.swing(true), level),
      .evidence = {fmt::format("{} losses: {:.4g} at first, {:.4g} recently", l.size(), l.first(),
                               l.last())},
      .where = rate_where(o),
      .fix =
          "use a smaller learning rate or momentum or a larger batch, and reset gradients in every "
          "step (zero_grad)"};
}

}  // namespace headway
