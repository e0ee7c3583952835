#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

// kInfo: worth knowing, nothing to repair. From kWarning on something should be done.
enum class Severity { kInfo, kWarning, kHigh, kCritical };
std::string_view severity_name(Severity severity);  // "info", "warning", "high", "critical"

// One cause, with everything needed to believe it and to remove it.
struct Finding {
  std::string cause{};  // stable id: the page is docs/causes/<cause>.md
  Severity severity = Severity::kWarning;
  double confidence = 0.5;              // 0..1
  std::string summary{};                // a plain sentence
  std::vector<std::string> evidence{};  // numbers, one thought a line
  std::string where{};                  // stage, operator, callback ...; may be empty
  std::string fix{};
  // Throughput behind the fix as a multiple of today's, from the measured demands.
  std::optional<double> predicted_gain{};

  std::string page() const { return "docs/causes/" + cause + ".md"; }
};

}  // namespace headway
