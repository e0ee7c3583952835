// Little or nothing is learnt, as the losses show, and the source says why.
#include <fmt/format.h>

#include <algorithm>

#include "headway/doctor/rules/observed.h"

namespace headway {
namespace {

constexpr size_t kFew = 8;
constexpr double kSettledS = 10;
constexpr double kStaysAt = 0.9, kHardly = 0.5;  // of the first losses, that is left
constexpr double kBeyond = 1;  // squares that no output between -1 and 1 should leave

struct Explanation {
  Hint hint;
  Cause cause;
  Unlearnt needs;
  const char *summary, *fix;
};

constexpr Explanation kExplanations[] = {
    {Hint::kOneUnitSoftmax, Cause::kLossOutputMismatch, Unlearnt::kHardlyFalls,
     "the model ends in a softmax over one unit, which is always 1",
     "one output unit takes a sigmoid and binary crossentropy"},
    {Hint::kSecondSoftmax, Cause::kLossOutputMismatch, Unlearnt::kHardlyFalls,
     "the model ends in a softmax or sigmoid, and its loss applies a second one",
     "leave it out of the model: this loss takes plain numbers (logits)"},
    {Hint::kMissingSoftmax, Cause::kLossOutputMismatch, Unlearnt::kHardlyFalls,
     "the loss takes probabilities, and the model ends in something else",
     "from_logits=True in the loss, or a softmax (one unit: sigmoid; NLLLoss: log_softmax) at the "
     "end"},
    {Hint::kShapeClash, Cause::kLossOutputMismatch, Unlearnt::kHardlyFalls,
     "predictions of shape (n, 1) and targets of shape (n): their difference has the shape (n, n), "
     "and only the mean of the targets is learnt",
     "give both the same shape: prediction.squeeze(1), or target.unsqueeze(1)"},
    {Hint::kBoundedOutput, Cause::kLossOutputMismatch, Unlearnt::kStaysBeyond,
     "the model ends in a sigmoid or tanh, and its targets are larger than that can get",
     "a last layer without activation, or targets scaled into its range"},
    {Hint::kRectifiedOutput, Cause::kLossOutputMismatch, Unlearnt::kFrozen,
     "the model ends in a ReLU: it cannot fall below zero, and where it is zero it learns nothing",
     "a last layer without activation"},
    {Hint::kNoStep, Cause::kWeightsNotUpdated, Unlearnt::kStays,
     "gradients are made, and no optimizer makes a step with them",
     "optimizer.step() after backward(); apply_gradients(); params = optax.apply_updates(params, "
     "updates), given back by the step"},
    {Hint::kClearedGradients, Cause::kWeightsNotUpdated, Unlearnt::kStays,
     "gradients are cleared between backward() and step()",
     "zero_grad() before backward(), or after step()"},
    {Hint::kOtherWeights, Cause::kWeightsNotUpdated, Unlearnt::kStays,
     "the optimizer was given the weights of a model that is not the one being trained",
     "make the optimizer from the parameters() of the model that the loss comes from"},
    {Hint::kReplacedLayers, Cause::kWeightsNotUpdated, Unlearnt::kStays,
     "a layer was replaced after the optimizer was made: its weights are in no optimizer",
     "make the optimizer when the model is complete"},
    {Hint::kHeldWeights, Cause::kWeightsNotUpdated, Unlearnt::kFrozen,
     "weights are told not to change",
     "let the weights that are to learn be trainable, and give them to the optimizer (Keras: "
     "compile() again after trainable was changed)"},
    {Hint::kConstantWeights, Cause::kBadInitialWeights, Unlearnt::kFrozen,
     "weights begin as zeros, or all alike, and so do their gradients",
     "leave the initial weights to the layer, or draw them at random"},
    {Hint::kHighRate, Cause::kLearningRate, Unlearnt::kHardlyFalls,
     "the learning rate is far above what this optimizer is used with, and the loss hardly falls",
     "a learning rate ten or a hundred times smaller: 1e-3 for Adam, 0.1 or less for SGD"},
    {Hint::kLowRate, Cause::kLearningRate, Unlearnt::kFrozen,
     "the learning rate is so small that no step can be seen",
     "a learning rate a hundred or a thousand times larger"},
    {Hint::kShortSchedule, Cause::kLearningRate, Unlearnt::kStopped,
     "the schedule of the learning rate counts steps and was given a number of epochs: it is over "
     "after so many steps, and the loss does not fall any more",
     "epochs times steps per epoch"},
    {Hint::kUnscaledInput, Cause::kInputNotScaled, Unlearnt::kStays,
     "the input goes up to 255, nothing scales it, and the loss hardly falls",
     "divide by 255, or normalise to mean 0 and deviation 1"},
    {Hint::kSaturatingLayers, Cause::kVanishingGradients, Unlearnt::kStays,
     "many layers of sigmoid or tanh follow each other: hardly any gradient gets through",
     "ReLU or GELU between the layers, normalisation, or fewer layers"},
    {Hint::kCutGradient, Cause::kGradientNotConnected, Unlearnt::kFrozen,
     "something between the loss and the weights has no gradient",
     "take detach(), round(), stop_gradient() out of the way from the model to the loss"},
};

// Before anything was thrown up.
double first_of_losses(const Observations& o) {
  const double told = o.looks->seen.progress.first_loss;
  return told > 0 ? std::min(o.losses.first(), told) : o.losses.first();
}

// What the live objects show is sure, and a reading of the source is not.
bool is_refuted(const SeenModel& model, Cause cause) {
  const bool seen = model.looks > 0 && model.weights > 0;
  switch (cause) {
    case Cause::kWeightsNotUpdated: return seen && model.moved == model.weights;
    case Cause::kGradientNotConnected: return seen && model.with_gradient >= model.weights;
    case Cause::kLearningRate: return model.rate >= 0;
    default: return false;
  }
}

}  // namespace

namespace {

// Since the first half of the losses next to nothing was learnt, and something is left to learn.
// Those that repeat themselves to the digit count, too: they say it loudest.
bool stopped(const Observations& o) {
  constexpr double kSame = 0.05, kLeft = 0.1;
  const std::vector<SeenLoss>& told = o.looks->seen.losses;
  const size_t quarter = told.size() / 4;
  if (told.size() < kFew || !is_measure(o)) return false;
  const auto mean = [&](size_t from) {
    double sum = 0;
    for (size_t i = from; i < from + quarter; ++i) sum += told[i].value;
    return sum / double(quarter);
  };
  const double early = mean(quarter), late = mean(told.size() - quarter);
  return early > 0 && late >= (1 - kSame) * early && late >= kLeft * first_of_losses(o);
}

}  // namespace

bool losses_show(const Observations& o, Unlearnt needs) {
  const Losses& l = o.losses;
  if (l.size() == 0) return false;
  if (needs == Unlearnt::kFrozen) return told_frozen(o).has_value();
  if (needs == Unlearnt::kStopped) return o.looks->training_s() >= kSettledS && stopped(o);
  const bool enough =
      l.size() >= kFew && l.from_the_start() && is_measure(o) && o.looks->training_s() >= kSettledS;
  const double first = first_of_losses(o);
  if (!enough || first <= 0) return told_frozen(o).has_value();
  switch (needs) {
    case Unlearnt::kHardlyFalls: return l.last() >= kHardly * first;
    case Unlearnt::kStays: return l.last() >= kStaysAt * first || told_frozen(o).has_value();
    case Unlearnt::kStaysBeyond: return l.last() >= kHardly * first && l.last() > kBeyond;
    case Unlearnt::kStopped:
    case Unlearnt::kFrozen: break;
  }
  return false;
}

std::optional<Finding> explained(const Observations& o, Cause cause) {
  if (!o.looks || o.losses.size() == 0) return std::nullopt;
  if (is_refuted(o.looks->seen.model, cause)) return std::nullopt;
  for (const Explanation& each : kExplanations) {
    if (each.cause != cause) continue;
    const auto& hints = o.looks->seen.hints;
    const auto hint = std::find_if(hints.begin(), hints.end(),
                                   [&](const SeenHint& seen) { return seen.kind == each.hint; });
    if (hint == hints.end() || !losses_show(o, each.needs)) continue;
    const Losses& l = o.losses;
    return Finding{
        .cause = cause,
        .severity = each.needs == Unlearnt::kHardlyFalls ? Severity::kWarning : Severity::kHigh,
        .confidence = 0.8,
        .summary = each.summary,
        .evidence = {fmt::format("{} losses: {:.4g} at first, {:.4g} of late", l.size(),
                                 first_of_losses(o), l.last())},
        .where = place_text(hint->at),
        .fix = each.fix};
  }
  return std::nullopt;
}

}  // namespace headway
