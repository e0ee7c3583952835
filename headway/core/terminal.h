#pragma once

#include <cstdio>

// What the user's terminal can do, by the environment's own words.
namespace headway {

bool moves_cursor(std::FILE* out);  // a terminal, and not a dumb one
bool wants_color();                 // NO_COLOR is not set
bool shows_utf8();                  // by the locale

}  // namespace headway
