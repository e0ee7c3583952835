#pragma once

#include <sys/types.h>

#include "cli/look_guard.h"

namespace headway::cli {

// Writes the native stacks of a process's threads that wait to standard output, as one JSON object;
// of those that run it says so. Error when it may not be read.
void print_native_stacks(pid_t pid, LookGuard& guard);

// Which native functions of a process run on the cores, sampled for so many seconds, as JSON. Error
// where the kernel does not allow it.
void print_native_samples(pid_t pid, double seconds, LookGuard& guard);

}  // namespace headway::cli
