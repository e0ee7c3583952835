#pragma once

#include <cstdint>
#include <string_view>

#include "headway/probe/python/python_offsets.h"

namespace headway {

// The source line of the instruction at byte `offset` of a code object; `first_line` if the table
// does not say. `table`: co_lnotab or co_linetable of the code object.
int line_of(LineTable kind, std::string_view table, int first_line, int64_t offset);

}  // namespace headway
