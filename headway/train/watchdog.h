#pragma once

#include <string>

#include "headway/train/model.h"

// Inside train/: what happens when a run stands still.
namespace headway {

struct Trace;

// The verdict on a run that stands still, what its threads wait for, and where they stand; empty
// when the doctor does not call it stuck (yet).
std::string stuck_report(const Trace& trace, const std::string& waits);

}  // namespace headway
