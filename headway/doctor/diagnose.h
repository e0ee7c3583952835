#pragma once

#include <vector>

#include "headway/doctor/finding.h"
#include "headway/doctor/ledger.h"
#include "headway/doctor/verdict.h"
#include "headway/trace/trace.h"

namespace headway {

// What is wrong with a run: the root cause first, then its symptoms. Empty when nothing is wrong,
// or when too little was recorded to tell. Pure: the same trace gives the same findings.
//
//   for (const Finding& f : diagnose(read_trace("run.trace"))) show(f.summary, f.fix);
std::vector<Finding> diagnose(const Trace& trace);

}  // namespace headway
