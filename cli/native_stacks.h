#pragma once

#include <sys/types.h>

#include "cli/look_guard.h"

namespace headway::cli {

// Writes the native stacks of a process's threads that wait to standard output, as one JSON object;
// of those that run it says so. Error when it may not be read.
void print_native_stacks(pid_t pid, LookGuard& guard);

}  // namespace headway::cli
