#pragma once

#include <sys/types.h>

#include <string>

namespace headway {

// "exit status 1", "killed by signal 9 (Killed)"; `status` as waitpid(2) gives it.
std::string ending_text(int status);

// What a process left for its parent: the last number of its line in /proc. 0: not known, or well.
int wait_status_of(pid_t pid);

}  // namespace headway
