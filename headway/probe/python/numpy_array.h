#pragma once

#include <cstdint>
#include <optional>

#include "headway/probe/process/memory_reader.h"
#include "headway/probe/python/live_tensor.h"

namespace headway {

// An array of NumPy 1 or 2 in another process's memory. Only whole ones of 2-, 4- or 8-byte floats
// whose rows follow each other (C order): nothing else is read.
std::optional<LiveTensor> numpy_array(const MemoryReader& memory, uint64_t object);

}  // namespace headway
