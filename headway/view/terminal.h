#pragma once

#include <string>
#include <vector>

#include "headway/doctor/run_summary.h"
#include "headway/doctor/verdict.h"

namespace headway {

// A finding as lines of text; long texts continue in the same column on the next line.
//
//   slow: one worker makes all samples, in slow(serial)
//     where     slow(serial)
//     evidence  58% of each step waits for data: 58 ms of 100 ms
//               it needs 100 ms per batch and works 100% of the time
//     fix       let it run on many elements at once: ...
//     gain      about 2.5x as fast
//     more      docs/causes/serial-map.md
std::string finding_text(const Finding& finding);

// The numbers of a finding as every view shows them: "85%", and "about 2.5x as fast", which is
// empty where nothing is gained or known.
std::string confidence_text(const Finding& finding);
std::string gain_text(const Finding& finding);

// "24.2 steps/s; computes 52%, waits for data 39%": the speed, and where the training thread's
// time goes. Empty where neither is known.
std::string time_text(const RunSummary& run);

// The verdict in one line, then the findings, most important first.
std::string diagnosis_text(const Verdict& verdict, const std::vector<Finding>& findings);
// The same and, at the end, where the time goes.
std::string report_text(const Verdict& verdict, const std::vector<Finding>& findings,
                        const RunSummary& run);

}  // namespace headway
