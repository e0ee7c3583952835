// What the examined steps show about gradients, weights and inputs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "headway/core/median.h"
#include "headway/core/text.h"
#include "headway/doctor/rules/counters.h"

namespace headway {
namespace {

constexpr size_t kFewLooks = 3, kEnoughLooks = 5;
constexpr int64_t kEnoughSteps = 50;
constexpr size_t kDeep = 3;       // kernels in a row
constexpr double kExplodes = 70;  // gradient of the first kernel relative to the last
constexpr double kVanishes = 1e-3, kTinyGradient = 1e-4;  // likewise; and its absolute value
constexpr double kLargeGradient = 1;                      // root mean square
constexpr double kHugeGradient = 5, kHugeForItsWeight = 20;
constexpr double kGrown = 10;  // relative to the median so far
constexpr size_t kGrownTimes = 3;
constexpr double kDead = 0.7, kAllDead = 0.95;         // of the units of a layer
constexpr double kLargeInput = 10, kTinyInput = 1e-3;  // mean, standard deviation

const std::vector<NumbersReading>& looks(const Evidence& e) { return e.trace.numbers; }

double at(const std::vector<double>& values, size_t i) {
  return i < values.size() ? values[i] : -1;
}

std::vector<size_t> kernels(const Trace& trace) {
  std::vector<size_t> out;
  for (size_t i = 0; i < trace.weights.size(); ++i)
    if (trace.weights[i].kernel) out.push_back(i);
  return out;
}

// The median of one weight's gradients; values that are not numbers are left out.
double usual_gradient(const Evidence& e, size_t weight) {
  std::vector<double> seen;
  for (const NumbersReading& look : looks(e))
    if (const double g = at(look.gradients, weight); g >= 0) seen.push_back(g);
  return median(std::move(seen));
}

std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kShown = 4;
  const std::vector<std::string> some(names.begin(),
                                      names.begin() + std::min(kShown, names.size()));
  const size_t more = names.size() - some.size();
  return fmt::format("{}{}", fmt::join(some, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

std::optional<Finding> bad_start(const Evidence& e) {
  const std::vector<size_t> all = kernels(e.trace);
  std::vector<std::string> names;
  for (size_t k = 0; k + 1 < all.size(); ++k)  // a last layer that begins with zeros is fine
    if (e.trace.weights[all[k]].identical_units) names.push_back(e.trace.weights[all[k]].name);
  if (names.empty() || looks(e).empty()) return std::nullopt;
  std::vector<std::string> evidence = {
      fmt::format("{} of {} kernels; equal units get equal gradients, so a layer of them learns as "
                  "much as one",
                  names.size(), all.size())};
  if (at(looks(e).back().gradients, all[0]) >= 0)
    evidence.push_back(fmt::format("a gradient of {:.2g} in {}", usual_gradient(e, all[0]),
                                   e.trace.weights[all[0]].name));
  return Finding{
      .cause = Cause::kBadInitialWeights,
      .severity = Severity::kHigh,
      .confidence = 0.95,
      .summary = fmt::format(
          "all units of {} started with equal weights and stay equal: they all learn the same",
          listed(names)),
      .evidence = std::move(evidence),
      .where = names[0],
      .fix =
          "leave the kernel initializer out (glorot_uniform), or use he_normal before relu; use "
          "zeros only for biases"};
}

std::optional<Finding> input_not_scaled(const Evidence& e) {
  std::vector<double> means, spreads;
  for (const NumbersReading& look : looks(e)) {
    if (!(look.input_std >= 0)) continue;
    means.push_back(std::abs(look.input_mean));
    spreads.push_back(look.input_std);
  }
  if (spreads.size() < kFewLooks) return std::nullopt;
  const double mean = median(means), spread = median(spreads);
  const bool large = mean > kLargeInput || spread > kLargeInput;
  const bool tiny = mean < kTinyInput && spread < kTinyInput;
  if (!large && !tiny) return std::nullopt;
  return Finding{.cause = Cause::kInputNotScaled,
                 .severity = Severity::kWarning,
                 .confidence = 0.8,
                 .summary = fmt::format("the inputs are too {} for the first layer",
                                        large ? "large" : "small"),
                 .evidence = {fmt::format("mean {:.3g}, standard deviation {:.3g}; about 0 and 1 "
                                          "are what initial weights are made for",
                                          mean, spread)},
                 .where = e.trace.layers.empty() ? "" : "input of the first layer with weights",
                 .fix =
                     "make Rescaling(1.0 / 255) or Normalization(...) the first layer, or add "
                     ".normalize() to the dataset"};
}

// Gradients that are not numbers, or grow from look to look, or from the last layer to the first.
std::optional<Finding> exploding(const Evidence& e) {
  const std::vector<size_t> all = kernels(e.trace);
  if (looks(e).size() < kFewLooks || all.empty()) return std::nullopt;
  Finding f{.cause = Cause::kExplodingGradients, .severity = Severity::kHigh, .confidence = 0.85};
  f.fix =
      "clip them (.clip = {.by_global_norm = 1}), lower the learning rate, he_normal or "
      "glorot initializers, BatchNormalization between the layers";
  for (const NumbersReading& look : looks(e)) {
    for (const size_t i : all) {
      if (!std::isnan(at(look.gradients, i))) continue;
      f.where = e.trace.weights[i].name;
      f.summary = fmt::format("the gradient of {} is not finite in step {}", f.where, look.step);
      f.evidence = {fmt::format("{:.3g} in the steps before", usual_gradient(e, i))};
      f.severity = Severity::kCritical;
      return f;
    }
  }
  const double first = usual_gradient(e, all.front()), last = usual_gradient(e, all.back());
  if (all.size() >= kDeep && last > 0 && first > kExplodes * last && first > kLargeGradient) {
    f.where = e.trace.weights[all.front()].name;
    f.summary = "gradients explode on their way back through the layers";
    f.evidence = {fmt::format("{:.3g} in {}, {:.3g} in {}: {:.3g} times", first, f.where, last,
                              e.trace.weights[all.back()].name, first / last)};
    return f;
  }
  // From the first looks: later the weights may have adapted.
  std::vector<double> gradients, ratios;
  for (size_t k = 0; k < std::min(kFewLooks, looks(e).size()); ++k) {
    for (const size_t i : all) {
      const double g = at(looks(e)[k].gradients, i), w = at(looks(e)[k].weights, i);
      gradients.push_back(g);
      ratios.push_back(w > 0 ? g / w : 0);
    }
  }
  if (median(gradients) > kHugeGradient && median(ratios) > kHugeForItsWeight) {
    f.where = e.trace.weights[all.front()].name;
    f.summary = "gradients are many times larger than the weights they move";
    f.evidence = {fmt::format("{:.3g} in the first steps, {:.3g} times the weights, in {} kernels",
                              median(gradients), median(ratios), all.size())};
    return f;
  }
  for (const size_t i : all) {
    std::vector<double> so_far;
    std::vector<std::string> jumps;
    for (const NumbersReading& look : looks(e)) {
      const double g = at(look.gradients, i);
      if (g < 0) continue;
      if (so_far.size() >= kEnoughLooks && g > kGrown * median(so_far) && g > kLargeGradient) {
        jumps.push_back(fmt::format("{:.3g} in step {}", g, look.step));
      } else {
        so_far.push_back(g);
      }
    }
    if (jumps.size() < kGrownTimes) continue;
    f.where = e.trace.weights[i].name;
    f.summary = fmt::format("the gradient of {} jumps", f.where);
    f.evidence = {fmt::format("usually {:.3g}, then {}", median(so_far), listed(jumps))};
    return f;
  }
  return std::nullopt;
}

std::optional<Finding> vanishing(const Evidence& e) {
  const std::vector<size_t> all = kernels(e.trace);
  if (looks(e).size() < kFewLooks || all.size() < kDeep || bad_start(e)) return std::nullopt;
  const double first = usual_gradient(e, all.front()), last = usual_gradient(e, all.back());
  if (last <= 0 || first >= kVanishes * last || first >= kTinyGradient) return std::nullopt;
  return Finding{.cause = Cause::kVanishingGradients,
                 .severity = Severity::kHigh,
                 .confidence = 0.85,
                 .summary = "gradients vanish on their way back: the first layers learn nothing",
                 .evidence = {fmt::format("{:.3g} in {}, {:.3g} in {}", first,
                                          e.trace.weights[all.front()].name, last,
                                          e.trace.weights[all.back()].name),
                              fmt::format("{} kernels one behind the other", all.size())},
                 .where = e.trace.weights[all.front()].name,
                 .fix =
                     "use relu with he_normal instead of sigmoid or tanh, add BatchNormalization "
                     "or Residual connections, or use fewer layers"};
}

std::optional<Finding> dead_relu(const Evidence& e) {
  if (looks(e).size() < kEnoughLooks || looks(e).back().step < kEnoughSteps) return std::nullopt;
  double worst = 0;
  std::string name;
  for (size_t layer = 0; layer < e.trace.layers.size(); ++layer) {
    double least = 1;  // a unit is dead only if it was so in each of the last looks
    for (size_t k = looks(e).size() - kEnoughLooks; k < looks(e).size(); ++k)
      least = std::min(least, at(looks(e)[k].dead_units, layer));
    if (least > worst) worst = least, name = e.trace.layers[layer];
  }
  if (worst < kDead) return std::nullopt;
  return Finding{.cause = Cause::kDeadRelu,
                 .severity = worst >= kAllDead ? Severity::kHigh : Severity::kWarning,
                 .confidence = 0.85,
                 .summary = fmt::format("{:.0f}% of the units of {} are dead: their output is 0 "
                                        "for every sample, so they learn nothing",
                                        100 * worst, name),
                 .evidence = {fmt::format("in each of the last {} looks, up to step {}",
                                          kEnoughLooks, looks(e).back().step)},
                 .where = name,
                 .fix =
                     "use a ten times smaller learning rate, he_normal as the initializer, biases "
                     "of 0, or leaky_relu, whose units cannot die"};
}

std::optional<Finding> not_connected(const Evidence& e) {
  if (looks(e).size() < kFewLooks) return std::nullopt;
  std::vector<std::string> names;
  for (size_t i = 0; i < e.trace.weights.size(); ++i) {
    const bool never =
        std::all_of(looks(e).begin(), looks(e).end(),
                    [&](const NumbersReading& look) { return at(look.gradients, i) == -1; });
    if (never) names.push_back(e.trace.weights[i].name);
  }
  if (names.empty()) return std::nullopt;
  return Finding{
      .cause = Cause::kGradientNotConnected,
      .severity = Severity::kHigh,
      .confidence = 0.9,
      .summary = fmt::format("no gradient reaches {}, so they do not learn", listed(names)),
      .evidence = {fmt::format("{} of {} trainable weights, in {} looks", names.size(),
                               e.trace.weights.size(), looks(e).size())},
      .where = names[0],
      .fix =
          "look for detach(), .data, item() or torch::NoGradGuard between these weights "
          "and the loss; if they should not learn, freeze them with "
          "requires_grad_(false)"};
}

std::optional<Finding> not_updated(const Evidence& e) {
  if (const auto left_out = e.note(NoteKind::kLeftOut)) {
    return Finding{
        .cause = Cause::kWeightsNotUpdated,
        .severity = Severity::kHigh,
        .confidence = 0.9,
        .summary =
            "the loss depends on weights that were not given to the optimizer, so they are "
            "never updated",
        .evidence = {fmt::format("tensors of {}", *left_out)},
        .where = "LoopOptions.parameters",
        .fix =
            "pass these weights in .parameters of LoopOptions (or the whole module as .module), "
            "or detach() them"};
  }
  if (looks(e).size() < kEnoughLooks || e.last.learning_rate <= 0) return std::nullopt;
  std::vector<std::string> names;
  for (size_t i = 0; i < e.trace.weights.size(); ++i) {
    const bool still =
        std::all_of(looks(e).begin(), looks(e).end(), [&](const NumbersReading& look) {
          return at(look.gradients, i) > 0 && at(look.updates, i) == 0;
        });
    if (still) names.push_back(e.trace.weights[i].name);
  }
  if (names.empty()) return std::nullopt;
  return Finding{
      .cause = Cause::kWeightsNotUpdated,
      .severity = Severity::kHigh,
      .confidence = 0.85,
      .summary = fmt::format("the weights {} get gradients but do not change", listed(names)),
      .evidence = {fmt::format("{} of {} weights, in {} looks", names.size(),
                               e.trace.weights.size(), looks(e).size())},
      .where = names[0],
      .fix =
          "the updates may be too small for the number type of the weights (bfloat16, float16): "
          "keep weights in float32; also look for code that writes old values back"};
}

}  // namespace headway
