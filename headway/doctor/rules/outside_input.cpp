#include "headway/doctor/rules/outside_input.h"

#include <fmt/format.h>

#include <algorithm>

namespace headway {

bool made(const SeenStack& s) { return s.training && producing(s); }

std::string hot_text(const HotLine& hot, const char* of) {
  return fmt::format("{:.0f}% of {} is on this line{}", 100 * hot.share, of,
                     hot.library.empty() ? "" : fmt::format(", in {}", hot.library));
}

void add_pace(Finding& finding, const OutsideEvidence& e) {
  const SeenProgress& p = e.seen.progress;
  if (p.steps >= 3 && p.step_s > 0) {
    finding.evidence.push_back(fmt::format("{} per step", duration_text(p.step_s)));
  }
  for (const SeenGpu& gpu : e.seen.gpus) {
    if (!gpu.used) continue;
    finding.evidence.push_back(
        fmt::format("{} is busy {:.0f}% of the time", gpu.name, 100 * gpu.utilisation));
  }
}

std::string users_place(const SeenProcess& process) {
  for (const SeenFrame& frame : process.stack)
    if (frame.users) return place_text(frame);
  return "";
}

}  // namespace headway
