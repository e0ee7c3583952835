#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headway {

// The line of a training program that appends to a list which nothing empties, not counting lists
// of plain numbers; 0: none is seen. For explaining memory that grows: such a list may be meant.
int64_t line_that_keeps(const std::vector<std::string>& lines);

}  // namespace headway
