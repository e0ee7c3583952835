#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "headway/image/view.h"

namespace headway {

// The largest value of an integer type; 1 for float32.
constexpr float top_of(DType dtype) {
  return dtype == DType::kUInt8 ? 255.0f : dtype == DType::kUInt16 ? 65535.0f : 1.0f;
}

// tf.image.convert_image_dtype of one value: integers are [0, 1] in float32; back, they are scaled
// by the largest value plus a half, truncated and clamped.
template <typename T>
float to_unit(T value) {
  if constexpr (std::is_floating_point_v<T>) return value;
  else return float(value) * (1.0f / top_of(Tensor::dtype_of<T>()));
}
template <typename T>
T from_unit(float value) {
  if constexpr (std::is_floating_point_v<T>) {
    return value;
  } else {
    constexpr float kTop = top_of(Tensor::dtype_of<T>());
    // In this order NaN becomes 0.
    return T(std::min(kTop, std::max(0.0f, value * (kTop + 0.5f))));
  }
}

// tf.image.convert_image_dtype: same size and channels; `target` may be `source` for equal dtypes.
void convert(const ImageView& source, const ImageSpan& target);

// tf.image.per_image_standardization of a float32 image, in place.
void standardize(const ImageSpan& image);

// value * scale[c] + bias[c], float32, in place.
void scale_channels(const ImageSpan& image, const float* scale, const float* bias);

}  // namespace headway
