#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headway {

// The line of a training program that appends to a list which nothing empties, except lists of
// plain numbers; 0: none found. Only explains memory that grows: such a list may be intended.
int64_t line_that_keeps(const std::vector<std::string>& lines);

}  // namespace headway
