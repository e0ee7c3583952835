#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headway/doctor/finding.h"
#include "headway/trace/trace.h"

namespace headway {

// How a run is, in one word and one sentence.
struct Verdict {
  State state = State::kHealthy;
  std::string sentence{};  // "healthy: compute-bound, 41 ms per step; epoch 1 ends in 14 min"
  std::optional<double> eta_s{};  // time left until the last epoch ends
  double still_s = 0;             // how long nothing has moved; only set when stuck
};

// `findings` are what diagnose(trace) gave. Pure.
Verdict verdict(const Trace& trace, const std::vector<Finding>& findings);

inline bool needs_repair(const Verdict& verdict, const std::vector<Finding>& findings) {
  return has_problem(findings) || verdict.state == State::kStuck ||
         verdict.state == State::kCrashed;
}

}  // namespace headway
