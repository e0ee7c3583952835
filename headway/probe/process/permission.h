#pragma once

#include <sys/types.h>

#include <string>

namespace headway {

// Why another process's memory cannot be read, and what would allow it, in a sentence for its user:
// it ended, is a thread of the kernel, is another user's ... Empty when it can be read, as far as
// the kernel's rules tell.
std::string why_not_readable(pid_t pid);

}  // namespace headway
