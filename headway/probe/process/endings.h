#pragma once

#include <sys/types.h>

#include <string>

namespace headway {

// "exit status 1", "killed by signal 9 (Killed)"; `status` as from waitpid(2).
std::string ending_text(int status);

// The wait status of a process that ended, from its line in /proc. 0: not known, or exit status 0.
int wait_status_of(pid_t pid);

}  // namespace headway
