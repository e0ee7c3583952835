#pragma once

#include <string>

#include "headway/trace/outside.h"

namespace headway {

// What was seen from outside as one line of a trace file: {"kind":"outside", ...}.
std::string outside_line(const Outside& outside);
Outside parse_outside(const std::string& line);

}  // namespace headway
