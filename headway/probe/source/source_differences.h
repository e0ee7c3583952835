#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headway/probe/source/python_source.h"

namespace headway {

// "error = prediction - target": the difference of two variables.
struct SourceDifference {
  std::string left{}, right{};
  int64_t line = 0;
};
// A few dozen at most.
std::vector<SourceDifference> differences_in(const PythonSource& source);

}  // namespace headway
