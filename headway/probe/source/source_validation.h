#pragma once

#include <cstdint>
#include <vector>

#include "headway/probe/source/python_source.h"

namespace headway {

// First and last line.
struct SourceRange {
  int64_t first = 0, last = 0;
};

// Functions that validate a model and do not train it: they run it without gradients and return a
// number. What a model makes for its own training (labels, games) is not a number.
std::vector<SourceRange> validating_functions(const PythonSource& source);

}  // namespace headway
