#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headway/trace/cause.h"

namespace headway {

// kInfo: worth knowing, nothing to repair. From kWarning on, something should be done.
enum class Severity { kInfo, kWarning, kHigh, kCritical };
std::string_view severity_name(Severity severity);  // "info", "warning", "high", "critical"

// One cause, with everything needed to check it and to remove it.
struct Finding {
  Cause cause = Cause::kUnknown;
  Severity severity = Severity::kWarning;
  double confidence = 0.5;              // 0..1
  std::string summary{};                // a plain sentence
  std::vector<std::string> evidence{};  // numbers, one statement per line
  std::string where{};                  // stage, operator, callback ...; may be empty
  std::optional<size_t> stage{};        // index in Trace::stages, if one stage is at fault
  std::string fix{};
  // Throughput with the fix, as a multiple of today's; from the measured costs.
  std::optional<double> predicted_gain{};

  std::string id() const { return std::string(text_of(cause)); }
  std::string page() const { return "docs/causes/" + id() + ".md"; }
};

// Is there something to repair? Findings of severity kInfo do not count. REQUIRES: the most severe
// one first, as diagnose() gives them.
inline bool has_problem(const std::vector<Finding>& findings) {
  return !findings.empty() && findings[0].severity >= Severity::kWarning;
}

}  // namespace headway
