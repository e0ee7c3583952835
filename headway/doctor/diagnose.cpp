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

// A cause becomes as severe as the worst symptom it brings about.
void raise_roots(std::vector<Finding>& findings) {
  for (const CauseRule& rule : all_rules()) {
    Finding* cause = find(findings, rule.cause);
    if (!cause || cause->severity < Severity::kWarning) continue;
    for (const Cause symptom : rule.brings_about)
      if (const Finding* effect = find(findings, symptom))
        cause->severity = std::max(cause->severity, effect->severity);
  }
}

bool brings_about(Cause cause, Cause symptom) {
  const CauseRule* rule = rule_of(cause);
  return rule && std::find(rule->brings_about.begin(), rule->brings_about.end(), symptom) !=
                     rule->brings_about.end();
}

// A finding that only says where the time goes is dropped once another finding says why.
void drop_general(std::vector<Finding>& findings) {
  const auto explains = [](const Finding& f) {
    return f.severity >= Severity::kWarning && explains_where_time_goes(f.cause);
  };
  if (std::any_of(findings.begin(), findings.end(), explains))
    std::erase_if(findings, [](const Finding& f) { return is_general(f.cause); });
}

// When the GPU is busy nearly all the time, nothing on the host can take time away from it.
void weaken_host_findings_of_busy_gpu(const Observations& o, std::vector<Finding>& findings) {
  constexpr double kNearlyAll = 0.85;
  const auto busy = o.gpu_busy();
  if (!o.looks || !busy || *busy < kNearlyAll || !o.ledger.is_enough()) return;
  for (Finding& f : findings) {
    if (!is_of_the_host(f.cause) || f.severity == Severity::kCritical) continue;
    f.severity = Severity::kInfo;
    if (f.predicted_gain) f.predicted_gain = std::min(*f.predicted_gain, 1 / *busy);
  }
}

}  // namespace

std::string_view severity_name(Severity severity) {
  constexpr std::string_view kNames[] = {"info", "warning", "high", "critical"};
  return kNames[static_cast<size_t>(severity)];
}

void put_in_order(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  for (auto at = findings.begin(); at != findings.end(); ++at) {
    const auto is_root = [&](const Finding& f) {
      return f.severity >= at->severity && std::none_of(at, findings.end(), [&](const Finding& g) {
               return g.severity == f.severity && brings_about(g.cause, f.cause);
             });
    };
    if (const auto root = std::find_if(at, findings.end(), is_root); root != findings.end())
      std::rotate(at, root, root + 1);
  }
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
  weaken_host_findings_of_busy_gpu(o, findings);
  drop_general(findings);
  raise_roots(findings);
  put_in_order(findings);
  return findings;
}

}  // namespace headway
