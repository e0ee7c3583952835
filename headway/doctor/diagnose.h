#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headway/doctor/finding.h"
#include "headway/doctor/ledger.h"
#include "headway/trace/trace.h"

namespace headway {

// What is wrong with a run: the root cause first, then its symptoms. Empty when nothing is wrong,
// or when too little was recorded to tell. Pure: the same trace gives the same findings.
//
//   for (const Finding& f : diagnose(read_trace("run.trace"))) show(f.summary, f.fix);
std::vector<Finding> diagnose(const Trace& trace);

// Is there something to repair? Findings of severity kInfo do not count.
inline bool has_problem(const std::vector<Finding>& findings) {
  return !findings.empty() && findings[0].severity >= Severity::kWarning;
}

struct Verdict {
  State state = State::kHealthy;
  std::string sentence{};  // "healthy: compute-bound, 41 ms per step; epoch 1 ends in 14 min"
  std::optional<double> eta_s{};  // time left until the last epoch ends
  double still_s = 0;             // how long nothing has moved; only set when stuck
};
Verdict verdict(const Trace& trace, const std::vector<Finding>& findings);

// Where the time went, for display.
std::vector<LedgerLine> ledger_of(const Trace& trace);

inline bool needs_repair(const Verdict& verdict, const std::vector<Finding>& findings) {
  return has_problem(findings) || verdict.state == State::kStuck ||
         verdict.state == State::kCrashed;
}

}  // namespace headway
