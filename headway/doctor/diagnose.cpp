#include "headway/doctor/diagnose.h"

#include <algorithm>
#include <string_view>

#include "headway/doctor/outside_verdict.h"
#include "headway/doctor/rules/rules.h"

namespace headway {
namespace {

// What brings about what: the left one goes first whenever both are found.
struct BringsAbout {
  Cause root, symptom;
};
constexpr BringsAbout kChains[] = {
    {Cause::kCpuQuota, Cause::kDecodeSaturated},
    {Cause::kCpuQuota, Cause::kInputBound},
    {Cause::kCpuQuota, Cause::kSerialMap},
    {Cause::kCpuQuota, Cause::kThreadOversubscription},
    {Cause::kThreadOversubscription, Cause::kInputBound},
    {Cause::kThreadOversubscription, Cause::kDecodeSaturated},
    {Cause::kHostMemoryLeak, Cause::kHostMemoryPressure},
    {Cause::kHostMemoryLeak, Cause::kMemoryLimit},
    {Cause::kMemoryLimit, Cause::kHostMemoryPressure},
    {Cause::kHostMemoryPressure, Cause::kInputBound},
    {Cause::kHostMemoryPressure, Cause::kSlowStorage},
    {Cause::kHostMemoryPressure, Cause::kManySmallFiles},
    {Cause::kHostMemoryPressure, Cause::kStepTimeGrows},
    {Cause::kLearningRate, Cause::kNanLoss},
    {Cause::kExplodingGradients, Cause::kNanLoss},
    {Cause::kExplodingGradients, Cause::kLearningRate},
    {Cause::kBadInitialWeights, Cause::kExplodingGradients},
    {Cause::kBadInitialWeights, Cause::kVanishingGradients},
    {Cause::kBadInitialWeights, Cause::kLossFrozen},
    {Cause::kBadInitialWeights, Cause::kWeightsNotUpdated},
    {Cause::kVanishingGradients, Cause::kLossFrozen},
    {Cause::kVanishingGradients, Cause::kLearningRate},
    {Cause::kBadInitialWeights, Cause::kDeadRelu},
    {Cause::kBadInitialWeights, Cause::kLearningRate},
    {Cause::kDeadRelu, Cause::kLossFrozen},
    {Cause::kDeadRelu, Cause::kLearningRate},
    {Cause::kInputNotScaled, Cause::kExplodingGradients},
    {Cause::kInputNotScaled, Cause::kDeadRelu},
    {Cause::kInputNotScaled, Cause::kLearningRate},
    {Cause::kInputNotScaled, Cause::kNanLoss},
    {Cause::kInputNotScaled, Cause::kLossFrozen},
    {Cause::kGradientNotConnected, Cause::kWeightsNotUpdated},
    {Cause::kGradientNotConnected, Cause::kLossFrozen},
    {Cause::kWeightsNotUpdated, Cause::kLossFrozen},
    {Cause::kStepTimeGrows, Cause::kSlowCallback},
};

Finding* find(std::vector<Finding>& findings, Cause cause) {
  const auto at = std::find_if(findings.begin(), findings.end(),
                               [&](const Finding& f) { return f.cause == cause; });
  return at == findings.end() ? nullptr : &*at;
}

// As grave as the gravest it brings about: then a stable sort puts it in front.
void raise_roots(std::vector<Finding>& findings) {
  for (const auto& [root, symptom] : kChains) {
    Finding* cause = find(findings, root);
    const Finding* effect = find(findings, symptom);
    if (cause && effect) cause->severity = std::max(cause->severity, effect->severity);
  }
}

}  // namespace

std::string_view severity_name(Severity severity) {
  constexpr std::string_view kNames[] = {"info", "warning", "high", "critical"};
  return kNames[static_cast<size_t>(severity)];
}

std::vector<Finding> diagnose(const Trace& trace) {
  if (trace.outside.seen) return diagnose_outside(trace);
  const Evidence evidence(trace);
  std::vector<Finding> findings;
  for (const auto& family :
       {refusal_rules(), config_rules(), memory_rules(), loop_rules(), gradient_rules(),
        numerical_rules(), no_data_rules(), input_rules(), compute_rules()}) {
    for (const Rule rule : family) {
      std::optional<Finding> found = rule(evidence);
      if (found && !find(findings, found->cause)) findings.push_back(std::move(*found));
    }
  }
  raise_roots(findings);
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  return findings;
}

}  // namespace headway
