#pragma once

#include <string>
#include <vector>

#include "headway/doctor/diagnose.h"

namespace headway {

// A run as one HTML file: verdict, findings, pipeline, steps, timeline, charts. It opens offline,
// by light and by dark, on a phone too, and asks nothing of the network. However long the run,
// it stays under about a megabyte. Free text is redacted, and shown as text whatever it holds.
//
//   AtomicFile file("report.html");
//   file.write(report_html(trace, verdict(trace, findings), findings));
//   file.commit();
std::string report_html(const Trace& trace, const Verdict& verdict,
                        const std::vector<Finding>& findings);

}  // namespace headway
