#include "headway/doctor/diagnose.h"

#include <algorithm>

#include "headway/doctor/rules/counters.h"
#include "headway/doctor/rules/rules.h"

namespace headway {
namespace {

Finding* find(std::vector<Finding>& findings, Cause cause) {
  const auto at = std::find_if(findings.begin(), findings.end(),
                               [&](const Finding& f) { return f.cause == cause; });
  return at == findings.end() ? nullptr : &*at;
}

// As grave as the gravest it brings about: then a stable sort puts it in front.
void raise_roots(std::vector<Finding>& findings) {
  for (const CauseRule& rule : all_rules()) {
    Finding* cause = find(findings, rule.cause);
    if (!cause || cause->severity < Severity::kWarning) continue;
    for (const Cause symptom : rule.brings_about)
      if (const Finding* effect = find(findings, symptom))
        cause->severity = std::max(cause->severity, effect->severity);
  }
}

// What only says where the time goes is no news once somebody knows why.
bool is_general(Cause cause) { return cause == Cause::kInputBound || cause == Cause::kHotLine; }

void drop_general(std::vector<Finding>& findings) {
  const auto known = [](const Finding& f) {
    const CauseRule* rule = rule_of(f.cause);
    return f.severity >= Severity::kWarning && !is_general(f.cause) &&
           f.cause != Cause::kDecodeSaturated && f.cause != Cause::kBatchTooSmall &&
           f.cause != Cause::kStepTimeGrows && f.cause != Cause::kNeighboursTakeCores && rule &&
           rule->effect == Effect::kSlow;
  };
  if (std::any_of(findings.begin(), findings.end(), known))
    std::erase_if(findings, [](const Finding& f) { return is_general(f.cause); });
}

}  // namespace

std::string_view severity_name(Severity severity) {
  constexpr std::string_view kNames[] = {"info", "warning", "high", "critical"};
  return kNames[static_cast<size_t>(severity)];
}

std::vector<Finding> diagnose(const Trace& trace) {
  if (!trace.outside.unwatched.empty()) return {};
  const Observations o(trace);
  std::vector<Finding> findings;
  if (auto said = o.inside() ? refused(*o.inside()) : std::nullopt) findings.push_back(*said);
  for (const CauseRule& rule : all_rules()) {
    if (find(findings, rule.cause)) continue;
    if (auto found = rule.rule(o)) findings.push_back(std::move(*found));
  }
  drop_general(findings);
  raise_roots(findings);
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  return findings;
}

}  // namespace headway
