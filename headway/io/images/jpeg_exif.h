#pragma once

#include <cstdint>
#include <span>

namespace headway {

// How a JPEG must be turned to stand upright, 1 (not at all) to 8, by its EXIF data; 1 where they
// do not say, or nonsense.
int exif_orientation(std::span<const uint8_t> jpeg);

}  // namespace headway
