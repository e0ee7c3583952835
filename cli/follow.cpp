#include "cli/follow.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "cli/interrupt.h"
#include "headway/core/clock.h"
#include "headway/core/text.h"
#include "headway/doctor/diagnose.h"
#include "headway/trace/trace_file.h"
#include "headway/view/live_screen.h"

namespace headway::cli {
namespace {

constexpr auto kPause = std::chrono::milliseconds(200);
constexpr double kSilentS = 15;  // a run writes at least every few seconds, also when it is stuck

std::string remark_on(double silent_s) {
  if (silent_s < kSilentS) return "";
  return fmt::format("nothing was written for {}: the run may have been killed; Ctrl-C leaves",
                     duration_text(silent_s));
}

}  // namespace

Trace follow(const std::string& path) {
  TraceFollower run(path);
  LiveScreen screen;
  int64_t heard_ns = now_ns();
  while (true) {
    if (run.read_on()) heard_ns = now_ns();
    const Trace& trace = run.trace();
    const std::vector<Finding> findings = diagnose(trace);
    screen.show(trace, verdict(trace, findings), findings,
                remark_on(1e-9 * double(now_ns() - heard_ns)));
    if (trace.ended()) return trace;
    std::this_thread::sleep_for(kPause);
    check_interrupt();
  }
}

}  // namespace headway::cli
