#include "headway/image/normalize.h"

#include <cassert>
#include <cmath>
#include <cstring>

namespace headway {
namespace {

template <typename From, typename To>
To convert_value(From value) {
  if constexpr (std::is_same_v<From, To>) return value;
  else if constexpr (std::is_same_v<From, uint8_t> && std::is_same_v<To, uint16_t>)
    return To(value << 8);
  else if constexpr (std::is_same_v<From, uint16_t> && std::is_same_v<To, uint8_t>)
    return To(value >> 8);
  else return from_unit<To>(to_unit(value));
}

template <typename From, typename To>
void convert_rows(const ImageView& source, const ImageSpan& target) {
  const int64_t count = int64_t{source.width} * source.channels;
  for (int y = 0; y < source.height; ++y) {
    const From* from = source.row_as<From>(y);
    To* to = target.row_as<To>(y);
    for (int64_t i = 0; i < count; ++i) to[i] = convert_value<From, To>(from[i]);
  }
}

template <typename From>
void convert_from(const ImageView& source, const ImageSpan& target) {
  switch (target.dtype) {
    case DType::kUInt8: return convert_rows<From, uint8_t>(source, target);
    case DType::kUInt16: return convert_rows<From, uint16_t>(source, target);
    default: return convert_rows<From, float>(source, target);
  }
}

}  // namespace

void convert(const ImageView& source, const ImageSpan& target) {
  assert(source.height == target.height && source.width == target.width &&
         source.channels == target.channels);
  switch (source.dtype) {
    case DType::kUInt8: return convert_from<uint8_t>(source, target);
    case DType::kUInt16: return convert_from<uint16_t>(source, target);
    default: return convert_from<float>(source, target);
  }
}

void standardize(const ImageSpan& image) {
  assert(image.dtype == DType::kFloat32);
  const int64_t per_row = int64_t{image.width} * image.channels;
  const double count = double(per_row) * image.height;
  double sum = 0, squares = 0;
  for (int y = 0; y < image.height; ++y) {
    const float* row = image.row_as<float>(y);
    for (int64_t i = 0; i < per_row; ++i) sum += row[i];
  }
  const double mean = sum / count;
  for (int y = 0; y < image.height; ++y) {
    const float* row = image.row_as<float>(y);
    for (int64_t i = 0; i < per_row; ++i) squares += (row[i] - mean) * (row[i] - mean);
  }
  // tf's floor keeps an image of one colour from becoming infinite.
  const double deviation = std::max(std::sqrt(squares / count), 1.0 / std::sqrt(count));
  for (int y = 0; y < image.height; ++y) {
    float* row = image.row_as<float>(y);
    for (int64_t i = 0; i < per_row; ++i) row[i] = float((row[i] - mean) / deviation);
  }
}

void scale_channels(const ImageSpan& image, const float* scale, const float* bias) {
  assert(image.dtype == DType::kFloat32);
  for (int y = 0; y < image.height; ++y) {
    float* p = image.row_as<float>(y);
    for (int x = 0; x < image.width; ++x) {
      for (int c = 0; c < image.channels; ++c, ++p) *p = *p * scale[c] + bias[c];
    }
  }
}

}  // namespace headway
