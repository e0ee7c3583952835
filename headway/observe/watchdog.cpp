#include "headway/observe/watchdog.h"

#include "headway/doctor/diagnose.h"
#include "headway/trace/thread_stacks.h"
#include "headway/view/terminal.h"

namespace headway {

std::string stuck_report(const Trace& trace, const std::string& waits) {
  const std::vector<Finding> findings = diagnose(trace);
  const Verdict judged = verdict(trace, findings);
  if (judged.state != State::kStuck) return "";
  std::string text = diagnosis_text(judged, findings);
  if (!waits.empty()) text += "who waits for what:\n" + waits + "\n";
  return text + "where the threads stand:\n" + stacks_text(thread_stacks());
}

}  // namespace headway
