#pragma once

// libjpeg's headers, in the order they want: jpeglib.h needs FILE and size_t to be declared,
// jerror.h needs jpeglib.h.
// clang-format off
#include <cstddef>
#include <cstdio>
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

namespace headway {

// The side of a decoded block in pixels: 8, 4, 2 or 1. The version-8 interface (Ubuntu,
// conda-forge) has two sides, which are the same for scales of 1/1 to 1/8.
inline int block_side(const jpeg_decompress_struct& info) {
#if JPEG_LIB_VERSION >= 70
  return info.min_DCT_h_scaled_size;
#else
  return info.min_DCT_scaled_size;
#endif
}

}  // namespace headway
