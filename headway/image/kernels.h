#pragma once

#include <cstdint>

#include "headway/core/tensor.h"

// The inner loops of Resizer, for the widest vectors this processor has. Pixels are planar here:
// each channel's row stands alone, `plane_stride` apart, and may be read and written up to one
// vector (kVectorSlack values) beyond its end.
namespace headway::kernels {

constexpr int kVectorSlack = 64;

int lanes();  // float32 values per vector

// Splits a row of interleaved channels into one row per channel. Reads nothing beyond the row.
void split_channels(DType dtype, const void* row, int width, int channels, void* planes,
                    int64_t plane_stride_bytes);

// Weighted sum of `taps` rows, converted to float32, times scale[c] plus bias[c].
struct Blend {
  DType dtype = DType::kUInt8;
  const void* const* rows = nullptr;  // first plane of each row
  const float* weights = nullptr;
  int taps = 0;
  int64_t plane_stride_bytes = 0;
  int channels = 0;
  int width = 0;
  const float* scale = nullptr;
  const float* bias = nullptr;
  float* out = nullptr;
  int64_t out_stride = 0;  // values between planes
};
void blend(const Blend& job);

// Where the columns of an output row come from, in blocks of lanes() columns. Column x is the sum
// over k of weights[k * weight_stride + x] * plane[base[block] + relative[x] + k].
struct Columns {
  int count = 0;
  int taps = 0;
  const float* weights = nullptr;
  int64_t weight_stride = 0;
  const int32_t* base = nullptr;      // per block
  const int32_t* relative = nullptr;  // per column, padded to whole blocks
  const uint8_t* narrow = nullptr;    // per block: all relative < 2 * lanes()
};

struct Gather {
  const float* planes = nullptr;
  int64_t plane_stride = 0;
  int channels = 0;
  float* out = nullptr;          // exactly count values per channel are written
  int64_t out_plane_stride = 0;  // 0: interleaved
  bool bypass_cache = false;     // planar output only; every plane's row is aligned to a vector
};
void gather(const Columns& columns, const Gather& job);

// Nearest integer within the type.
void round_to(DType dtype, const float* values, int64_t count, void* out);

}  // namespace headway::kernels
