#pragma once

#include <cstdint>
#include <string>

// Numbers as people read them, the same in every message.
namespace headway {

std::string with_commas(int64_t n);   // "12,345"
std::string count_text(int64_t n);    // "9876", "11.2 M", "1 T"
std::string size_text(double bytes);  // "812 bytes", "43.2 MB"
std::string duration_text(
    double seconds);  // "410 us", "41.2 ms", "3.1 s", "3 min 20 s", "2 h 5 min"

}  // namespace headway
