#pragma once

#include <sys/types.h>

#include <string>

namespace headway {

// Why another process's memory cannot be read, and what would allow it, as a sentence for the user:
// it has ended, is a kernel thread, belongs to another user ... Empty if it can be read, as far as
// the kernel's rules tell.
std::string why_not_readable(pid_t pid);

}  // namespace headway
