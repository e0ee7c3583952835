#pragma once

#include <string>

#include "headway/trace/trace.h"

// What to say about a run that is stuck.
namespace headway {

// The verdict on a stuck run, what its threads wait for, and where they are in the code; empty when
// the doctor does not call it stuck (yet).
std::string stuck_report(const Trace& trace, const std::string& waits);

}  // namespace headway
