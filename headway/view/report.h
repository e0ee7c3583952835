#pragma once

#include <string>
#include <vector>

#include "headway/doctor/verdict.h"

namespace headway {

// A run as one HTML file: verdict, findings, pipeline, steps, timeline, charts. It works offline,
// in light and dark mode, on a phone too, and loads nothing from the network. However long the run,
// it stays below about a megabyte. Free text is redacted, and escaped whatever it contains.
//
//   AtomicFile file("report.html");
//   file.write(report_html(trace, verdict(trace, findings), findings));
//   file.commit();
std::string report_html(const Trace& trace, const Verdict& verdict,
                        const std::vector<Finding>& findings);

}  // namespace headway
