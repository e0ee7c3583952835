#pragma once

#include <sys/types.h>

#include "cli/look_guard.h"

namespace headway::cli {

// Writes the Python stacks of every thread of a process to standard output, as JSON: one object per
// read, each on a line. Error when there is no Python in it or it may not be read.
void print_stacks(pid_t pid, int count, double interval_ms, LookGuard& guard);

}  // namespace headway::cli
