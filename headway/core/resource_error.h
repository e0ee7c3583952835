#pragma once

#include <string>
#include <string_view>

#include "headway/core/error.h"

namespace headway {

// The machine ran short of something, or a device failed: memory, disk, descriptors. No sample is
// to blame, so none is ever skipped for it. Says which limit was met.
class ResourceError : public Error {
 public:
  using Error::Error;
  ResourceError within(const std::string& context) const {
    return ResourceError(context + ": " + problem(), hint(), cause());
  }
};

// For a std::bad_alloc: names the limit of this process, or what the machine has left.
ResourceError out_of_memory();

// For a system call that failed with `error` (an errno) while `doing` something with `path`.
ResourceError resource_error(const std::string& path, std::string_view doing, int error);

// Whether `error` says something about the one file that was to be read (not there, not readable, a
// folder), so that others may be fine. What is unknown is taken for the machine's.
bool is_of_one_file(int error);

}  // namespace headway
