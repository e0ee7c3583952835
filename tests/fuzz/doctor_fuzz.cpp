// Any trace through the doctor and everything that shows what it says: whatever a stranger's file
// claims, the rules and the pages stand it.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>

#include "headway/core/error.h"
#include "headway/doctor/diagnose.h"
#include "headway/trace/trace_file.h"
#include "headway/view/json.h"
#include "headway/view/live.h"
#include "headway/view/outside_frame.h"
#include "headway/view/report.h"
#include "headway/view/terminal.h"
#include "tests/fuzz/memory_file.h"

using namespace headway;
using fuzz::require;

namespace {

Trace traced(std::string_view lines) {
  const std::string version = std::to_string(kTraceVersion);
  std::istringstream in("{\"kind\":\"headway-trace\",\"version\":" + version + "}\n" +
                        std::string(lines));
  return parse_trace(in, "fuzz");
}

void show(const Trace& trace) {
  const std::vector<Finding> findings = diagnose(trace);
  const Verdict judged = verdict(trace, findings);
  require(!text_of(judged.state).empty());
  diagnosis_text(judged, findings);
  json_of(judged, findings).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  report_html(trace, judged, findings);
  live_frame(trace, judged, findings, 80, 24);
  live_line(trace, judged);
  outside_frame(trace, judged, findings, 80, 24, true);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    show(traced({reinterpret_cast<const char*>(data), size}));
  } catch (const Error& e) {
    require(!e.problem().empty());
  }
  return 0;
}
