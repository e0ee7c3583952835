#pragma once

#include <string>

#include "headway/trace/trace.h"

namespace headway::cli {

// Shows a run on standard error while its trace grows; returns the whole trace once the run has
// ended. Ctrl-C throws Interrupted, with the terminal as it was.
Trace follow(const std::string& path);

}  // namespace headway::cli
