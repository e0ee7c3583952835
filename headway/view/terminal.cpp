#include "headway/view/terminal.h"

#include <fmt/format.h>

#include "headway/core/print.h"
#include "headway/core/text.h"

namespace headway {

std::string finding_text(const Finding& finding) {
  std::string text = fmt::format("{} ({:.0f}% sure): {}\n", severity_name(finding.severity),
                                 100 * finding.confidence, visible(finding.summary));
  if (!finding.where.empty()) text += labelled("where", finding.where);
  for (const std::string& line : finding.evidence) {
    text += labelled(&line == &finding.evidence[0] ? "evidence" : "", line);
  }
  if (!finding.fix.empty()) text += labelled("fix", finding.fix);
  if (finding.predicted_gain && *finding.predicted_gain >= 1.05) {
    text += labelled("gain", fmt::format("about {:.1f}x as fast", *finding.predicted_gain));
  }
  return text + labelled("more", finding.page());
}

std::string diagnosis_text(const Verdict& verdict, const std::vector<Finding>& findings) {
  std::string text = visible(verdict.sentence) + "\n";
  for (const Finding& finding : findings) text += "\n" + finding_text(finding);
  return text;
}

}  // namespace headway
