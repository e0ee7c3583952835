#include "headway/doctor/diagnose.h"

#include <algorithm>
#include <string_view>

#include "headway/doctor/outside_verdict.h"
#include "headway/doctor/rules/rules.h"

namespace headway {
namespace {

// What brings about what: the left one goes first whenever both are found.
struct BringsAbout {
  std::string_view root, symptom;
};
constexpr BringsAbout kChains[] = {
    {"cpu-quota", "decode-saturated"},
    {"cpu-quota", "input-bound"},
    {"cpu-quota", "serial-map"},
    {"cpu-quota", "thread-oversubscription"},
    {"thread-oversubscription", "input-bound"},
    {"thread-oversubscription", "decode-saturated"},
    {"host-memory-leak", "host-memory-pressure"},
    {"host-memory-leak", "memory-limit"},
    {"memory-limit", "host-memory-pressure"},
    {"host-memory-pressure", "input-bound"},
    {"host-memory-pressure", "slow-storage"},
    {"host-memory-pressure", "many-small-files"},
    {"host-memory-pressure", "step-time-grows"},
    {"learning-rate", "nan-loss"},
    {"exploding-gradients", "nan-loss"},
    {"exploding-gradients", "learning-rate"},
    {"bad-initial-weights", "exploding-gradients"},
    {"bad-initial-weights", "vanishing-gradients"},
    {"bad-initial-weights", "loss-frozen"},
    {"bad-initial-weights", "weights-not-updated"},
    {"vanishing-gradients", "loss-frozen"},
    {"vanishing-gradients", "learning-rate"},
    {"bad-initial-weights", "dead-relu"},
    {"bad-initial-weights", "learning-rate"},
    {"dead-relu", "loss-frozen"},
    {"dead-relu", "learning-rate"},
    {"input-not-scaled", "exploding-gradients"},
    {"input-not-scaled", "dead-relu"},
    {"input-not-scaled", "learning-rate"},
    {"input-not-scaled", "nan-loss"},
    {"input-not-scaled", "loss-frozen"},
    {"gradient-not-connected", "weights-not-updated"},
    {"gradient-not-connected", "loss-frozen"},
    {"weights-not-updated", "loss-frozen"},
    {"step-time-grows", "slow-callback"},
};

Finding* find(std::vector<Finding>& findings, std::string_view cause) {
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
