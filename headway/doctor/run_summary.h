#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headway/doctor/ledger.h"
#include "headway/doctor/verdict.h"

namespace headway {

// Something a run was given or found: "batch size", "32".
struct RunSetting {
  std::string name, value;
};

struct NamedCause {
  Cause cause = Cause::kUnknown;
  Severity severity = Severity::kWarning;
  std::string text{};  // the finding's sentence
};

// A run in numbers: what can be compared with another one. Plain data, from a trace or from the
// JSON of a verdict.
struct RunSummary {
  State state = State::kNotStarted;
  std::string sentence{};
  std::vector<NamedCause> causes{};  // as the doctor names them, the first one first
  // Steps with all that is done between them; none: no steps were counted.
  std::optional<Estimate> steps_per_s{};
  int64_t batch_size = 0;               // 0: not known
  std::vector<AccountTime> accounts{};  // of the training thread, largest first
  std::vector<RunSetting> settings{};
};

// `judged` and `findings`: what the doctor says of the trace. Pure.
RunSummary summary_of(const Trace& trace, const Verdict& judged,
                      const std::vector<Finding>& findings);

}  // namespace headway
