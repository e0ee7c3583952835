#pragma once

#include <cstdint>
#include <string_view>

#include "headway/probe/python/python_offsets.h"

namespace headway {

// The source line of the instruction at byte `offset` of a code object; `first_line` when the table
// does not tell. `table` is what the code object holds: co_lnotab, co_linetable.
int line_of(LineTable kind, std::string_view table, int first_line, int64_t offset);

}  // namespace headway
