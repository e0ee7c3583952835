#pragma once

#include <string>

#include "headway/trace/trace.h"

// What is said of a run that stands still.
namespace headway {

// The verdict on a run that stands still, what its threads wait for, and where they stand; empty
// when the doctor does not call it stuck (yet).
std::string stuck_report(const Trace& trace, const std::string& waits);

}  // namespace headway
