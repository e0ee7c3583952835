#pragma once

#include <vector>

#include "headway/doctor/diagnose.h"

namespace headway {

// The findings and the verdict on a run that was watched from outside (trace.outside.seen).
std::vector<Finding> diagnose_outside(const Trace& trace);
Verdict outside_verdict(const Trace& trace, const std::vector<Finding>& findings);

}  // namespace headway
