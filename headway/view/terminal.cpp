#include "headway/view/terminal.h"

#include <fmt/format.h>

#include "headway/core/print.h"
#include "headway/core/wrap.h"
#include "headway/doctor/comparison.h"

namespace headway {
namespace {

constexpr double kWorthSaying = 1.05;  // times as fast
constexpr double kLeastShare = 0.01;   // of the time

}  // namespace

std::string confidence_text(const Finding& finding) {
  return fmt::format("{:.0f}%", 100 * finding.confidence);
}

std::string gain_text(const Finding& finding) {
  if (!finding.predicted_gain || *finding.predicted_gain < kWorthSaying) return "";
  return fmt::format("about {:.1f}x as fast", *finding.predicted_gain);
}

std::string time_text(const RunSummary& run) {
  std::string out;
  if (run.steps_per_s) out = rate_text(run.steps_per_s->value) + " steps/s";
  const char* between = out.empty() ? "" : "; ";
  for (const AccountTime& each : run.accounts) {
    if (each.time.share < kLeastShare) continue;
    out += fmt::format("{}{} {:.0f}%", between, text_of(each.account), 100 * each.time.share);
    between = ", ";
  }
  return out;
}

std::string finding_text(const Finding& finding) {
  std::string text = fmt::format("{} ({} sure): {}\n", severity_name(finding.severity),
                                 confidence_text(finding), visible(finding.summary));
  if (!finding.where.empty()) text += labelled("where", finding.where);
  for (const std::string& line : finding.evidence) {
    text += labelled(&line == &finding.evidence[0] ? "evidence" : "", line);
  }
  if (!finding.fix.empty()) text += labelled("fix", finding.fix);
  const std::string gain = gain_text(finding);
  if (!gain.empty()) text += labelled("gain", gain);
  return text + labelled("more", finding.page());
}

std::string diagnosis_text(const Verdict& verdict, const std::vector<Finding>& findings) {
  std::string text = visible(verdict.sentence) + "\n";
  for (const Finding& finding : findings) text += "\n" + finding_text(finding);
  return text;
}

std::string report_text(const Verdict& verdict, const std::vector<Finding>& findings,
                        const RunSummary& run) {
  const std::string time = time_text(run);
  return diagnosis_text(verdict, findings) + (time.empty() ? "" : "\n" + labelled("time", time));
}

}  // namespace headway
