#pragma once

#include <string>

#include "headway/trace/kinds.h"

namespace headway {

// Does this line of Python make a call for which there is a much faster way? `loops`: how many
// loops of its function are around the line.
SlowCall slow_call_in(const std::string& line, int64_t loops);

}  // namespace headway
