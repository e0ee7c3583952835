#pragma once

#include <string>

#include "headway/trace/kinds.h"

namespace headway {

// Does this line of Python call something for which there is a much faster way? `loops`: of its
// function, around the line.
SlowCall slow_call_in(const std::string& line, int64_t loops);

}  // namespace headway
