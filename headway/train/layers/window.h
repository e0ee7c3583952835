#pragma once

#include <string>

#include "headway/train/layers.h"

namespace headway {

// How a window slides along one axis. With kSame the output has one value per stride, and what must
// be added is shared out evenly, the odd one at the end, as TensorFlow does it.
struct Slide {
  int64_t outputs = 0;  // kAny for inputs of size kAny
  int64_t before = 0, after = 0;

  bool even() const { return before == after; }
};

// REQUIRES: window, stride > 0. `window` counts from its first to its last value.
Slide slide(int64_t inputs, int64_t window, int64_t stride, Padding padding);

// The image that comes out, with `channels`. Error when a window is larger than the image.
Shape slide_over(const std::string& kind, const Shape& image, Size2D window, Size2D stride,
                 Padding padding, int64_t channels);

// Error unless both are at least 1; `what` is "strides".
void require_positive(const std::string& kind, const char* what, Size2D size);

}  // namespace headway
