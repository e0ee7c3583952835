// Little or nothing is learnt, as the losses show, and the source says why.
#include <fmt/format.h>

#include <algorithm>

#include "headway/doctor/rules/observed.h"

namespace headway {
namespace {

constexpr size_t kFew = 8;
constexpr double kSettledS = 10;
constexpr double kStaysAt = 0.9, kHardly = 0.5;  // of the first losses is left
constexpr double kBeyond = 1;  // squared errors above this mean labels beyond -1 to 1

struct Explanation {
  Hint hint;
  Cause cause;
  Unlearnt needs;
  const char *summary, *fix;
};

constexpr Explanation kExplanations[] = {
    {Hint::kOneUnitSoftmax, Cause::kLossOutputMismatch, Unlearnt::kHardlyFalls,
     "the model ends in a softmax over one unit, which is always 1",
     "with one output unit, use a sigmoid and binary crossentropy"},
    {Hint::kSecondSoftmax, Cause::kLossOutputMismatch, Unlearnt::kHardlyFalls,
     "the model ends in a softmax or sigmoid, and its loss applies a second one",
     "remove it from the model: this loss expects plain numbers (logits)"},
    {Hint::kMissingSoftmax, Cause::kLossOutputMismatch, Unlearnt::kHardlyFalls,
     "the loss expects probabilities, but the model does not end in a softmax or sigmoid",
     "set from_logits=True in the loss, or end the model in a softmax (one unit: sigmoid; NLLLoss: "
     "log_softmax)"},
    {Hint::kShapeClash, Cause::kLossOutputMismatch, Unlearnt::kHardlyFalls,
     "predictions of shape (n, 1) and targets of shape (n): their difference has the shape (n, n), "
     "and only the mean of the targets is learnt",
     "give both the same shape: prediction.squeeze(1), or target.unsqueeze(1)"},
    {Hint::kBoundedOutput, Cause::kLossOutputMismatch, Unlearnt::kStaysBeyond,
     "the model ends in a sigmoid or tanh, but its targets are outside the range of its output",
     "use a last layer without activation, or scale the targets into its range"},
    {Hint::kRectifiedOutput, Cause::kLossOutputMismatch, Unlearnt::kFrozen,
     "the model ends in a ReLU: it cannot fall below zero, and where it is zero it learns nothing",
     "use a last layer without activation"},
    {Hint::kNoStep, Cause::kWeightsNotUpdated, Unlearnt::kStays,
     "gradients are computed, but no optimizer step uses them",
     "call optimizer.step() after backward(), or apply_gradients(); with optax, return params = "
     "optax.apply_updates(params, updates) from the step"},
    {Hint::kClearedGradients, Cause::kWeightsNotUpdated, Unlearnt::kStays,
     "gradients are cleared between backward() and step()",
     "call zero_grad() before backward() or after step()"},
    {Hint::kOtherWeights, Cause::kWeightsNotUpdated, Unlearnt::kStays,
     "the optimizer was given the weights of a model that is not the one being trained",
     "create the optimizer with the parameters() of the model that is trained"},
    {Hint::kReplacedLayers, Cause::kWeightsNotUpdated, Unlearnt::kStays,
     "a layer was replaced after the optimizer was created: no optimizer updates its weights",
     "create the optimizer after the model is complete"},
    {Hint::kHeldWeights, Cause::kWeightsNotUpdated, Unlearnt::kFrozen,
     "weights are set not to be trained",
     "make the weights that should learn trainable, and give them to the optimizer (Keras: call "
     "compile() again after changing trainable)"},
    {Hint::kConstantWeights, Cause::kBadInitialWeights, Unlearnt::kFrozen,
     "the initial weights are zero or all equal, so their gradients are, too",
     "keep the layer's own initial weights, or draw them at random"},
    {Hint::kHighRate, Cause::kLearningRate, Unlearnt::kHardlyFalls,
     "the learning rate is far above what this optimizer is used with, and the loss hardly falls",
     "use a learning rate ten or a hundred times smaller: 1e-3 for Adam, 0.1 or less for SGD"},
    {Hint::kLowRate, Cause::kLearningRate, Unlearnt::kFrozen,
     "the learning rate is so small that the steps have no visible effect",
     "use a learning rate a hundred or a thousand times larger"},
    {Hint::kShortSchedule, Cause::kLearningRate, Unlearnt::kStopped,
     "the learning rate schedule counts steps but was given the number of epochs: it ends after "
     "that many steps, and the loss stops falling",
     "give the schedule epochs times steps per epoch"},
    {Hint::kUnscaledInput, Cause::kInputNotScaled, Unlearnt::kStays,
     "the inputs go up to 255 and are not scaled, and the loss hardly falls",
     "divide the inputs by 255, or normalise them to mean 0 and standard deviation 1"},
    {Hint::kSaturatingLayers, Cause::kVanishingGradients, Unlearnt::kStays,
     "many layers of sigmoid or tanh follow each other: hardly any gradient gets through",
     "use ReLU or GELU between the layers, normalisation, or fewer layers"},
    {Hint::kCutGradient, Cause::kGradientNotConnected, Unlearnt::kFrozen,
     "something between the loss and the weights has no gradient",
     "remove detach(), round() and stop_gradient() between the model and the loss"},
};

// The first losses, before any later outlier.
double first_of_losses(const Observations& o) {
  const double told = o.looks->seen.progress.first_loss;
  return told > 0 ? std::min(o.losses.first(), told) : o.losses.first();
}

// Do these hints say that the optimizer does not hold some weights of the model?
bool says_not_held(Hint hint) {
  return hint == Hint::kHeldWeights || hint == Hint::kOtherWeights ||
         hint == Hint::kReplacedLayers;
}

// What the live objects show is certain; what the source suggests is not.
bool is_refuted(const SeenModel& model, Cause cause) {
  const bool seen = model.looks > 0 && model.weights > 0;
  switch (cause) {
    case Cause::kWeightsNotUpdated: return seen && model.moved == model.weights;
    case Cause::kGradientNotConnected:
      return seen &&
             (model.hides_gradients ? model.moved : model.with_gradient) >= model.weights;
    case Cause::kLearningRate: return model.rate >= 0;
    default: return false;
  }
}

}  // namespace

namespace {

// Since the first half of the losses almost nothing was learnt, although something is left to
// learn. Losses that repeat exactly count too: they are the clearest sign.
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
    const SeenModel& model = o.looks->seen.model;
    const bool all_held = model.weights > 0 && model.held_in_model == model.weights;
    if (each.cause != cause || (all_held && says_not_held(each.hint))) continue;
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
        .evidence = {fmt::format("{} losses: {:.4g} at first, {:.4g} recently", l.size(),
                                 first_of_losses(o), l.last())},
        .where = place_text(hint->at),
        .fix = each.fix};
  }
  return std::nullopt;
}

}  // namespace headway
