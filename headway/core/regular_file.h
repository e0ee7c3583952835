#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "headway/core/descriptor.h"
#include "headway/core/error.h"

struct stat;

namespace headway {

// The one way to open a file that may come from anywhere. Only a regular file is ever read: a pipe,
// a device, a socket or a folder under that name, also behind a link, is refused at once with its
// name and what it is, and nothing waits for whoever should write to it. `status` receives fstat's
// answer. What is wrong with this one file throws SampleError, a want of descriptors, memory or a
// working disk ResourceError.
Descriptor open_regular(const std::string& path, struct stat* status = nullptr);

// The whole of such a file, of at most `most_bytes`: more throws SampleError that says so, before
// any of it is read where the size is known.
std::string read_regular(const std::string& path, uint64_t most_bytes);

// For a system call on a file to be read: SampleError "photos/a.jpg: cannot open: No such file ..."
// where the trouble is that file's, else ResourceError.
[[noreturn]] void throw_io_error(const std::string& path, std::string_view doing, int error);
[[noreturn]] void throw_too_large(const std::string& path, uint64_t size_bytes,
                                  uint64_t most_bytes);

}  // namespace headway
