#pragma once

#include <cstdint>
#include <optional>

namespace headway {

// Undoes the row filters of a PNG image (or of one of its interlaced parts).
// `filtered` holds, per row, the filter's byte and `row_bytes` of data; `out` receives the rows,
// `out_stride` apart. `zeros` stands for the row above the first. A pixel has 1, 2, 3, 4, 6 or 8
// bytes.
//
// Up to kUnfilterSlack bytes behind `filtered`, `zeros` and each row of `out` are read, and behind
// each row of `out` written. REQUIRES: out_stride >= row_bytes + kUnfilterSlack.
struct FilteredImage {
  const uint8_t* filtered = nullptr;
  const uint8_t* zeros = nullptr;
  int64_t row_bytes = 0;
  int rows = 0;
  int pixel_bytes = 0;
};
constexpr int kUnfilterSlack = 64;

// The first row whose filter does not exist, or nothing when all is well.
std::optional<int> unfilter(const FilteredImage& image, uint8_t* out, int64_t out_stride);

}  // namespace headway
