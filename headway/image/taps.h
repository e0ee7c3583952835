#pragma once

#include <cstdint>
#include <vector>

#include "headway/image/resize.h"

namespace headway {

// One axis of a resize: the stretch of `span` pixels from `offset` on, of `in` source pixels, is
// scaled to `out`, of which [first, first + count) are wanted, in reverse order when mirrored.
struct AxisGeometry {
  int in = 0;
  float offset = 0;
  float span = 0;
  int out = 0;
  Filter filter = Filter::kBilinear;
  bool antialias = false;
  int first = 0;
  int count = 0;
  bool mirrored = false;

  bool operator==(const AxisGeometry&) const = default;
};

// Which source pixels make up each wanted pixel: `size` neighbours from start[i] on, neighbour k
// with weight(k)[i]. Starts count from `origin`, the first source pixel that any of them needs.
struct Taps {
  int size = 0;
  int origin = 0;
  int extent = 0;  // source pixels needed, from origin on
  std::vector<int32_t> start;
  std::vector<float> weights;  // neighbour-major; rows of `stride`
  int64_t stride = 0;

  float* weight(int k) { return weights.data() + k * stride; }
  const float* weight(int k) const { return weights.data() + k * stride; }
};

// Fills `taps`, reusing its memory. The arithmetic is tf.image.resize's, in float32.
void make_taps(const AxisGeometry& axis, Taps& taps);

// origin and extent alone.
struct Extent {
  int origin = 0;
  int size = 0;
};
Extent extent_of(const AxisGeometry& axis);

}  // namespace headway
