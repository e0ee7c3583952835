// What the weights, gradients and optimizer of a running program show, read from outside.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headway/core/median.h"
#include "headway/doctor/rules/counters.h"
#include "headway/doctor/rules/observed.h"

namespace headway {
namespace {

constexpr size_t kFewLosses = 8;
constexpr int64_t kFewLooks = 4, kManyLooks = 8;
constexpr int64_t kFewSteps = 10, kManySteps = 40;  // gradients may be accumulated over some steps
constexpr double kLong = 20;                        // seconds after which few steps are enough
constexpr size_t kEnoughGradients = 5;              // looks
constexpr double kDeadShare = 2.0 / 3;              // of the kernels

const SeenModel* model_of(const Observations& o) {
  return o.looks && o.looks->seen.model.looks >= kFewLooks ? &o.looks->seen.model : nullptr;
}

std::string rate_place(const Observations& o) {
  const SeenFrame& at = o.looks->seen.learning_rate_at;
  return at.line > 0 ? place_text(at) : o.ledger.where(Account::kComputes);
}

// Were there enough steps to change a weight?
bool made_steps(const Observations& o, const SeenModel& model) {
  return model.steps >= kManySteps || (model.steps >= kFewSteps && o.looks->training_s() >= kLong);
}

Finding unmoved(const Observations& o, Cause cause, std::string summary, std::string fix) {
  const SeenModel& m = o.looks->seen.model;
  return {.cause = cause,
          .severity = Severity::kHigh,
          .confidence = 0.9,
          .summary = std::move(summary),
          .evidence = {fmt::format(
              "{} weights looked at {} times over {} steps: {} moved, {}{} are "
              "held by an optimizer",
              std::max(m.weights, m.held), m.looks, m.steps, m.moved,
              m.hides_gradients ? "" : fmt::format("{} had a gradient, ", m.with_gradient),
              m.held_in_model)},
          .where = rate_place(o),
          .fix = std::move(fix)};
}

// Looks in which some gradient existed: between two steps they may have been cleared.
std::vector<const NumbersReading*> with_gradients(const Trace& trace) {
  std::vector<const NumbersReading*> out;
  for (const NumbersReading& look : trace.numbers)
    if (std::any_of(look.gradients.begin(), look.gradients.end(), [](double g) { return g > 0; }))
      out.push_back(&look);
  return out;
}

}  // namespace

std::optional<Finding> weights_stand_still(const Observations& o) {
  const SeenModel* m = model_of(o);
  if (!m || !made_steps(o, *m) || m->moved > 0) return std::nullopt;
  if (m->arrays > 0) {
    // Where losses fall something is trained: these arrays are the first ones, and still at hand.
    if (m->replaced || (o.losses.size() > 0 && !losses_show(o, Unlearnt::kStays)))
      return std::nullopt;
    return unmoved(o, Cause::kWeightsNotUpdated,
                   "the parameters are never replaced by those that the optimizer makes",
                   "params = optax.apply_updates(params, updates), and give them to the next step");
  }
  if (m->held == 0 && m->with_gradient == 0) return std::nullopt;  // nothing is trained here
  if (m->weights > 0 && m->held > 0 && m->held_in_model == 0) {
    if (m->left_out == 0) return std::nullopt;  // perhaps another model learns
    return unmoved(
        o, Cause::kWeightsNotUpdated,
        "the optimizer holds weights of another model than the one being trained",
        "make the optimizer from the parameters() of the model that the loss comes from");
  }
  if (m->held == 0)
    return unmoved(o, Cause::kWeightsNotUpdated,
                   "gradients are made, and no optimizer makes a step with them",
                   "optimizer.step() after backward()");
  if (m->rate == 0)
    return unmoved(o, Cause::kLearningRate, "the learning rate is 0: no weight moves",
                   "a learning rate above 0; look at the schedule, which may begin or end at 0");
  if (m->hides_gradients)
    return unmoved(o, Cause::kWeightsNotUpdated, "no weight that the optimizer holds ever moves",
                   "give apply_gradients() the gradients of this step, together with the weights "
                   "that the loss depends on; do not set them to 0 before");
  if (m->with_gradient == 0) {
    if (m->looks < kManyLooks) return std::nullopt;
    return unmoved(
        o, Cause::kGradientNotConnected,
        "no gradient ever reaches the weights that the optimizer holds",
        "backward() on the loss itself; take detach(), .data, item(), no_grad() out of the "
        "way from the model to the loss");
  }
  return unmoved(o, Cause::kWeightsNotUpdated, "weights get gradients and do not move",
                 "optimizer.step() in every step, zero_grad() before backward() and not between "
                 "backward() and step()");
}

std::optional<Finding> weights_left_out(const Observations& o) {
  const SeenModel* m = model_of(o);
  if (!m || !made_steps(o, *m) || m->left_out == 0 || m->held == 0) return std::nullopt;
  if (!losses_show(o, Unlearnt::kHardlyFalls)) return std::nullopt;
  return unmoved(o, Cause::kWeightsNotUpdated,
                 fmt::format("{} weights get gradients and are in no optimizer", m->left_out),
                 "make the optimizer when the model is complete, from all its parameters()");
}

std::optional<Finding> live_rate(const Observations& o) {
  constexpr double kHigh = 0.05, kHighPlain = 2, kLow = 2e-6, kLowPlain = 1e-5, kGone = 1e-4;
  const SeenModel* m = model_of(o);
  if (!m || m->rate < 0) return std::nullopt;
  const bool plain = m->plain_steps;
  const auto rate = [&](std::string summary, std::string fix) {
    return Finding{.cause = Cause::kLearningRate,
                   .severity = Severity::kHigh,
                   .confidence = 0.85,
                   .summary = std::move(summary),
                   .evidence = {fmt::format("{} losses: {:.4g} at first, {:.4g} recently",
                                            o.losses.size(), o.losses.first(), o.losses.last())},
                   .where = rate_place(o),
                   .fix = std::move(fix)};
  };
  if (m->rate >= (plain ? kHighPlain : kHigh) && losses_show(o, Unlearnt::kHardlyFalls))
    return rate(
        fmt::format("the learning rate of {} is {:g}, far above what it is used with, and the "
                    "loss hardly falls",
                    m->optimizer, m->rate),
        "a learning rate ten or a hundred times smaller: 1e-3 for Adam, 0.1 or less for SGD");
  if (m->highest_rate > 0 && m->highest_rate <= (plain ? kLowPlain : kLow) &&
      losses_show(o, Unlearnt::kFrozen))
    return rate(fmt::format("the learning rate of {} is {:g}: no step can be seen in the loss",
                            m->optimizer, m->highest_rate),
                "a learning rate a hundred or a thousand times larger");
  if (m->tiny_rates >= kFewLooks && m->highest_rate > 0 && m->rate < kGone * m->highest_rate)
    return rate(fmt::format("the learning rate fell from {:g} to {:g}: nothing is learnt any more",
                            m->highest_rate, m->rate),
                "decay once per epoch instead of in every step, or by less; give the schedule the "
                "number of steps that are really made");
  return std::nullopt;
}

// Every forward pass calls each hook once: a hook registered in every step slows the next one down.
std::optional<Finding> live_hooks(const Observations& o) {
  constexpr int64_t kMany = 40, kTimes = 3;  // more hooks, and so many times the first number
  const SeenModel* m = model_of(o);
  if (!m || !made_steps(o, *m) || m->hooks - m->first_hooks < kMany ||
      m->hooks < kTimes * m->first_hooks || 2 * m->hooks_grew < m->looks)
    return std::nullopt;
  const SeenFrame& at = o.looks->seen.hooks_at;
  return Finding{
      .cause = Cause::kStepTimeGrows,
      .severity = Severity::kHigh,
      .confidence = 0.9,
      .summary = fmt::format("hooks are registered again and again: the model has {} of them now, "
                             "and each is called in every step",
                             m->hooks),
      .evidence = {fmt::format("{} when it was first looked at, {} now, {} steps later",
                               m->first_hooks, m->hooks, m->steps)},
      .where = at.line > 0 ? place_text(at) : o.ledger.where(Account::kComputes),
      .fix =
          "register hooks once, before the loop; or keep what register_forward_hook() gives and "
          "call its remove()"};
}

namespace {

// The gradient shrinks from kernel to kernel. A first kernel alone with a small gradient may be an
// embedding, most of whose rows are not in the batch.
bool fades(const Trace& trace) {
  constexpr double kByHalf = 0.1;
  std::vector<double> usual;
  const auto looks = with_gradients(trace);
  for (size_t i = 0; i < trace.weights.size(); ++i) {
    if (!trace.weights[i].kernel) continue;
    std::vector<double> seen;
    for (const NumbersReading* look : looks)
      if (i < look->gradients.size() && look->gradients[i] >= 0) seen.push_back(look->gradients[i]);
    usual.push_back(median(std::move(seen)));
  }
  if (usual.size() < 3) return false;
  const double middle = usual[usual.size() / 2];
  return usual.front() < kByHalf * middle && middle < kByHalf * usual.back();
}

}  // namespace

std::optional<Finding> live_vanishing(const Observations& o) {
  const SeenModel* m = model_of(o);
  if (!m || !made_steps(o, *m) || !losses_show(o, Unlearnt::kStays) || !fades(o.trace))
    return std::nullopt;
  return vanishing(o.counters);
}

namespace {

// The sum in a unit grows with the number of its inputs: weights of about 1 / sqrt(inputs) keep it
// near 1. Embeddings begin with larger weights, so one kernel alone says nothing.
std::optional<Finding> start_of_wrong_scale(const Trace& trace) {
  constexpr double kLarge = 4, kSmall = 0.03;
  size_t kernels = 0, large = 0, small = 0;
  std::vector<double> scales;
  for (size_t i = 0; i < trace.weights.size() && !trace.numbers.empty(); ++i) {
    const WeightFacts& weight = trace.weights[i];
    const std::vector<double>& first = trace.numbers.front().weights;
    if (!weight.kernel || weight.fan_in < 2 || i >= first.size() || first[i] < 0) continue;
    const double scale = first[i] * std::sqrt(double(weight.fan_in));
    ++kernels, large += scale > kLarge, small += scale < kSmall;
    scales.push_back(scale);
  }
  if (kernels < 2 || (2 * large < kernels && small < kernels) || large == 1) return std::nullopt;
  const bool is_large = 2 * large >= kernels;
  return Finding{
      .cause = Cause::kBadInitialWeights,
      .severity = Severity::kWarning,
      .confidence = 0.75,
      .summary = fmt::format(
          "the initial weights are far too {}: each layer's output is about {:.2g} times its input",
          is_large ? "large" : "small", median(scales)),
      .evidence = {fmt::format("{} of {} kernels, when they were first looked at",
                               is_large ? large : small, kernels)},
      .where = trace.weights[0].name,
      .fix =
          "keep the layer's own initial weights, or use kaiming_normal_ or xavier_uniform_, which "
          "scale with the number of inputs"};
}

}  // namespace

std::optional<Finding> live_bad_start(const Observations& o) {
  const SeenModel* m = model_of(o);
  if (!m || !made_steps(o, *m) || !losses_show(o, Unlearnt::kHardlyFalls)) return std::nullopt;
  if (auto alike = bad_start(o.counters)) return alike;
  return start_of_wrong_scale(o.trace);
}

namespace {

// A crossentropy begins near the logarithm of the number of classes, and rarely above 7. One that
// begins far above and falls steeply was that wrong because the model's output was that large, and
// the user's data say why. A sum over many elements is as large, but never falls so steeply.
std::optional<Finding> input_of_large_numbers(const Observations& o) {
  constexpr double kFarAbove = 30, kSteeply = 10, kNotLearnt = 0.2, kLargeNumbers = 30;
  const SeenModel& m = o.looks->seen.model;
  const Losses& l = o.losses;
  const double first = o.looks->seen.progress.first_loss;
  if (o.looks->seen.crossentropy_at.line == 0 || !is_measure(o) || !l.from_the_start() ||
      l.size() < kFewLosses || m.array_size < kLargeNumbers)
    return std::nullopt;
  if (first < kFarAbove || l.last() * kSteeply > first || l.last() < kNotLearnt)
    return std::nullopt;
  return Finding{
      .cause = Cause::kInputNotScaled,
      .severity = Severity::kWarning,
      .confidence = 0.75,
      .summary = fmt::format("the inputs are too large: the loss began at {:.4g}, where an "
                             "untrained model gives less than 7",
                             first),
      .evidence = {m.array_name.empty()
                       ? fmt::format("an array of numbers of about {:.4g}", m.array_size)
                       : fmt::format("the array {} holds numbers of about {:.4g}", m.array_name,
                                     m.array_size),
                   fmt::format("{} losses: {:.4g} at first, {:.4g} recently", l.size(), first,
                               l.last())},
      .where = o.ledger.where(Account::kComputes),
      .fix =
          "scale each column to mean 0 and standard deviation 1 before training, or make a "
          "Normalization layer, adapted to the data, the first one"};
}

}  // namespace

std::optional<Finding> live_input(const Observations& o) {
  if (o.looks)
    if (auto large = input_of_large_numbers(o)) return large;
  const SeenModel* m = model_of(o);
  if (!m || !made_steps(o, *m) || !losses_show(o, Unlearnt::kHardlyFalls)) return std::nullopt;
  return input_not_scaled(o.counters);
}

namespace {

// Looks at this weight always found the same values.
bool stood_still(const Trace& trace, size_t weight) {
  std::vector<double> seen;
  for (const NumbersReading& look : trace.numbers)
    if (weight < look.weights.size() && look.weights[weight] >= 0)
      seen.push_back(look.weights[weight]);
  return seen.size() >= kEnoughGradients &&
         std::all_of(seen.begin(), seen.end(), [&](double v) { return v == seen.front(); });
}

// Which kernels nothing reaches: each look found a gradient of exactly 0 or, where gradients cannot
// be seen, the same values.
std::vector<std::string> unreached_kernels(const Trace& trace, bool hides_gradients,
                                           size_t& kernels) {
  const auto looks = with_gradients(trace);
  std::vector<std::string> out;
  for (size_t i = 0; i < trace.weights.size(); ++i) {
    if (!trace.weights[i].kernel) continue;
    ++kernels;
    const bool zero = std::all_of(looks.begin(), looks.end(), [&](const NumbersReading* look) {
      return i < look->gradients.size() && look->gradients[i] == 0;
    });
    if (hides_gradients ? stood_still(trace, i) : zero && looks.size() >= kEnoughGradients)
      out.push_back(trace.weights[i].name);
  }
  return out;
}

}  // namespace

// Nothing reaches most kernels, but it reaches some weights: something between them gives 0 for
// every sample.
std::optional<Finding> live_dead(const Observations& o) {
  const SeenModel* m = model_of(o);
  if (!m || !losses_show(o, Unlearnt::kStays)) return std::nullopt;
  if (m->hides_gradients && (m->moved == 0 || !made_steps(o, *m))) return std::nullopt;
  size_t kernels = 0;
  const std::vector<std::string> dead = unreached_kernels(o.trace, m->hides_gradients, kernels);
  if (dead.empty() || double(dead.size()) < kDeadShare * double(kernels)) return std::nullopt;
  return Finding{
      .cause = Cause::kDeadRelu,
      .severity = Severity::kHigh,
      .confidence = 0.85,
      .summary =
          fmt::format("the weights of {} of {} layers {}: their units always output 0 (they "
                      "are dead)",
                      dead.size(), kernels,
                      m->hides_gradients ? "never move, others do" : "get gradients of exactly 0"),
      .evidence = {fmt::format("in each look at {}", dead.front())},
      .where = dead.front(),
      .fix =
          "use a ten times smaller learning rate, he_normal as the initializer, biases of 0, or "
          "leaky_relu, whose units cannot die"};
}

}  // namespace headway
