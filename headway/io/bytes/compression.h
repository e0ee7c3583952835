#pragma once

#include <cstdint>
#include <string_view>

namespace headway {

enum class Compression : uint8_t { kNone, kGzip, kZlib, kAuto };

std::string_view name_of(Compression compression);  // "none", "gzip", "zlib", "auto"

}  // namespace headway
