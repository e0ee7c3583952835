#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headway {

// Lines of the same Python function that take what this line assigns, directly or through other
// lines; in any order, since a loop comes round again. What a statement both takes and assigns
// (`weights, loss = step(weights, x)`) is state it keeps, and does not count as handed to it.
//
//   1  while True:
//   2      x = load()
//   3      y = scale(x)
//   4      loss = step(y)       lines_fed(lines, 2) gives 3, 4
std::vector<int64_t> lines_fed(const std::vector<std::string>& lines, int64_t line);

}  // namespace headway
