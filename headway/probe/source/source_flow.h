#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headway {

// Lines of the same Python function that use what this line assigns, directly or through other
// lines; they may also be above it, since a loop runs again. What a statement both uses and assigns
// (`weights, loss = step(weights, x)`) is its own state and does not count.
//
//   1  while True:
//   2      x = load()
//   3      y = scale(x)
//   4      loss = step(y)       lines_fed(lines, 2) gives 3, 4
std::vector<int64_t> lines_fed(const std::vector<std::string>& lines, int64_t line);

}  // namespace headway
