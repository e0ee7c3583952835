#pragma once

#include <cstddef>
#include <cstdint>

#include "headway/core/tensor.h"

namespace headway {

// Bytes of an open file as the page cache holds them, without a copy, all of them present. Null
// where that cannot be had: the file ends before, a file system that cannot map, Linux before 5.14.
// Reading works then, or says why not. The bytes may be written to; the file does not change.
//
// A file that is cut short while it is mapped does not end the process: zeros take the place of
// what is gone, so that a check of it fails, and standard error is told once. For this a handler of
// SIGBUS is installed with the first mapping; other faults go to the handler that was there before.
Storage* map_file(int fd, uint64_t offset, size_t size_bytes);

}  // namespace headway
