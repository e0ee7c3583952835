// What the losses say that a program printed or kept in its variables.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headway/doctor/rules/waits.h"

namespace headway {
namespace {

constexpr size_t kFew = 8, kMany = 16;
constexpr double kSure = 4;         // standard errors
constexpr double kNoise = 0.02;     // of the loss, where nothing else is going on
constexpr double kUnmoved = 0.005;  // of the loss
constexpr double kNextToNothing = 1e-3;
constexpr double kGrown = 2, kThrown = 100, kNotBack = 1.3;
constexpr double kMostOfIt = 0.8;
constexpr double kWild = 0.5;         // swing against the loss itself
constexpr double kStillSwings = 0.7;  // late against early
constexpr double kTurnsOften = 0.5;

std::string loss_where(const Observations& o) { return o.ledger.where(Account::kComputes); }

}  // namespace

std::optional<Finding> told_nan(const Observations& o) {
  if (!o.looks || o.looks->seen.progress.bad_losses < 2) return std::nullopt;
  const SeenProgress& p = o.looks->seen.progress;
  return Finding{
      .cause = Cause::kNanLoss,
      .severity = Severity::kCritical,
      .confidence = 0.95,
      .summary = "the loss is not a number any more",
      .evidence = {fmt::format("told {} times; {} finite ones before and between", p.bad_losses,
                               p.losses)},
      .where = fmt::format("epoch {}, step {}", p.epoch, p.step),
      .fix =
          "a smaller learning rate, clipped gradients, inputs that are finite and scaled; "
          "TerminateOnNaN stops the waste"};
}

// From the first loss on it does not move, beyond its own small noise.
std::optional<Finding> told_frozen(const Observations& o) {
  const Losses& l = o.losses;
  if (l.size() < kFew || o.looks->seen.progress.bad_losses > 0) return std::nullopt;
  if (std::abs(l.first()) < kNextToNothing) return std::nullopt;
  const bool exact = l.same_to_the_digit();
  const double moved = std::abs(l.last() - l.first());
  const bool flat = l.size() >= kMany && l.from_the_start() && moved < kSure / 2 * l.error() &&
                    moved < kUnmoved * std::abs(l.first()) &&
                    l.noise() < kNoise * std::abs(l.first());
  if (!exact && !flat) return std::nullopt;
  return Finding{
      .cause = Cause::kLossFrozen,
      .severity = Severity::kWarning,
      .confidence = exact ? 0.9 : 0.7,
      .summary =
          exact ? fmt::format("the loss is {:.6g} to the last digit, again and again", l.first())
                : fmt::format("nothing is learnt: the loss stays at {:.4g}", l.last()),
      .evidence = {fmt::format("{} losses: {:.5g} at first, {:.5g} of late, noise {:.2g}", l.size(),
                               l.first(), l.last(), l.noise())},
      .where = loss_where(o),
      .fix =
          "look at what is trainable, at the last layer and the loss, at labels that belong to "
          "other "
          "samples, at units that saturate or never fire, and at the learning rate"};
}

std::optional<Finding> told_growing(const Observations& o) {
  const Losses& l = o.losses;
  if (l.size() < kFew || o.looks->seen.progress.bad_losses > 0) return std::nullopt;
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
      .where = loss_where(o),
      .fix = "a learning rate ten times smaller; clip gradients; clear them in every step"};
}

std::optional<Finding> told_oscillating(const Observations& o) {
  const Losses& l = o.losses;
  if (l.size() < kMany || o.looks->seen.progress.bad_losses > 0) return std::nullopt;
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
      .evidence = {fmt::format("{} losses: {:.4g} at first, {:.4g} of late", l.size(), l.first(),
                               l.last())},
      .where = loss_where(o),
      .fix =
          "a smaller learning rate or momentum, a larger batch, gradients cleared in every step"};
}

}  // namespace headway
