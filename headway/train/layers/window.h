#pragma once

#include <string>

#include "headway/train/layers.h"

namespace headway {

// How a window slides along one axis. With kSame there is one output per stride, and the padding is
// divided evenly, an odd value at the end, as in TensorFlow.
struct Slide {
  int64_t outputs = 0;  // kAny for inputs of size kAny
  int64_t before = 0, after = 0;

  bool even() const { return before == after; }
};

// REQUIRES: window, stride > 0. `window` includes the gaps of a dilation.
Slide slide(int64_t inputs, int64_t window, int64_t stride, Padding padding);

// The shape of the resulting image, with `channels`. Error when a window is larger than the image.
Shape slide_over(const std::string& kind, const Shape& image, Size2D window, Size2D stride,
                 Padding padding, int64_t channels);

// Error unless both are at least 1; `what` names the option: "strides".
void require_positive(const std::string& kind, const char* what, Size2D size);

}  // namespace headway
