#include "headway/train/loop/stuck_alarm.h"

#include <fmt/format.h>

#include <cstdlib>

#include "headway/core/log.h"
#include "headway/observe/watchdog.h"

namespace headway {

void StuckAlarm::operator()(const Trace& trace, const std::string& waits) const {
  const std::string report = stuck_report(trace, waits);
  if (report.empty() || feed_.wait_ended()) return;
  log(LogLevel::kWarning, report);
  if (when_stuck_ == WhenStuck::kGoOn) return;
  const RunPhase phase = trace.samples.back().phase;
  if (when_stuck_ == WhenStuck::kStop && phase == RunPhase::kWaitingForData) {
    return feed_.end_wait();
  }
  log(LogLevel::kWarning,
      fmt::format(
          "aborting, because when_stuck says so: in \"{}\" no checkpoint can be written; resume "
          "from the last one",
          text_of(phase)));
  std::abort();
}

}  // namespace headway
