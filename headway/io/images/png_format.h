#pragma once

#include <cstdint>

#include "headway/io/images/png.h"

// Inside io/: what reading and writing a PNG have in common.
namespace headway {

inline constexpr uint8_t kPngSignature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

constexpr uint32_t tag(const char (&name)[5]) {
  return uint32_t(uint8_t(name[0])) << 24 | uint32_t(uint8_t(name[1])) << 16 |
         uint32_t(uint8_t(name[2])) << 8 | uint8_t(name[3]);
}

inline int samples_of(PngColor color) {
  switch (color) {
    case PngColor::kRGB: return 3;
    case PngColor::kGrayAlpha: return 2;
    case PngColor::kRGBA: return 4;
    default: return 1;
  }
}

}  // namespace headway
