#include "headway/image/color.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdint>

#include "headway/image/normalize.h"

namespace headway {
namespace {

constexpr float kRed = 0.2989f, kGreen = 0.5870f, kBlue = 0.1140f;

template <typename T>
float load(T value) {
  return to_unit(value);
}

// Calls `change(channel, value) -> value` for every value, as [0, 1] for integers.
template <typename T, typename Change>
void each_value(const ImageSpan& image, const Change& change) {
  for (int y = 0; y < image.height; ++y) {
    T* row = image.row_as<T>(y);
    for (int x = 0; x < image.width; ++x) {
      for (int c = 0; c < image.channels; ++c, ++row) *row = from_unit<T>(change(c, load(*row)));
    }
  }
}

// Bytes have only 256 values: work them out once per channel.
template <typename Change>
void each_byte(const ImageSpan& image, const Change& change) {
  std::array<std::array<uint8_t, 256>, 4> table;
  for (int c = 0; c < image.channels; ++c) {
    for (int v = 0; v < 256; ++v) table[c][v] = from_unit<uint8_t>(change(c, load(uint8_t(v))));
  }
  for (int y = 0; y < image.height; ++y) {
    uint8_t* row = image.row(y);
    for (int x = 0; x < image.width; ++x) {
      for (int c = 0; c < image.channels; ++c, ++row) *row = table[c][*row];
    }
  }
}

template <typename Change>
void each(const ImageSpan& image, const Change& change) {
  switch (image.dtype) {
    case DType::kUInt8: return each_byte(image, change);
    case DType::kUInt16: return each_value<uint16_t>(image, change);
    default: return each_value<float>(image, change);
  }
}

template <typename T, typename Change>
void each_pixel_typed(const ImageSpan& image, const Change& change) {
  for (int y = 0; y < image.height; ++y) {
    T* p = image.row_as<T>(y);
    for (int x = 0; x < image.width; ++x, p += 3) {
      float rgb[3] = {load(p[0]), load(p[1]), load(p[2])};
      change(rgb);
      for (int c = 0; c < 3; ++c) p[c] = from_unit<T>(rgb[c]);
    }
  }
}

template <typename Change>
void each_pixel(const ImageSpan& image, const Change& change) {
  assert(image.channels == 3);
  switch (image.dtype) {
    case DType::kUInt8: return each_pixel_typed<uint8_t>(image, change);
    case DType::kUInt16: return each_pixel_typed<uint16_t>(image, change);
    default: return each_pixel_typed<float>(image, change);
  }
}

template <typename T>
std::array<double, 4> sums_of(const ImageView& image) {
  std::array<double, 4> total{};
  for (int y = 0; y < image.height; ++y) {
    const T* row = image.row_as<T>(y);
    for (int x = 0; x < image.width; ++x) {
      for (int c = 0; c < image.channels; ++c) total[c] += double(*row++);
    }
  }
  return total;
}

std::array<float, 4> means_of(const ImageView& image) {
  const bool bytes = image.dtype == DType::kUInt8, words = image.dtype == DType::kUInt16;
  const auto sums = bytes   ? sums_of<uint8_t>(image)
                    : words ? sums_of<uint16_t>(image)
                            : sums_of<float>(image);
  const double unit = bytes ? 255 : words ? 65535 : 1;
  std::array<float, 4> means;
  for (int c = 0; c < 4; ++c) {
    means[c] = float(sums[c] / (unit * std::max<int64_t>(1, int64_t{image.height} * image.width)));
  }
  return means;
}

struct Hsv {
  float h, s, v;
};

Hsv to_hsv(const float rgb[3]) {
  const float high = std::max({rgb[0], rgb[1], rgb[2]});
  const float range = high - std::min({rgb[0], rgb[1], rgb[2]});
  if (range <= 0) return {0, 0, high};
  const float unit = 1.0f / (6.0f * range);
  float h = 0;
  if (rgb[0] == high) h = unit * (rgb[1] - rgb[2]);
  else if (rgb[1] == high) h = unit * (rgb[2] - rgb[0]) + 2.0f / 6.0f;
  else h = unit * (rgb[0] - rgb[1]) + 4.0f / 6.0f;
  return {h < 0 ? h + 1 : h, high > 0 ? range / high : 0, high};
}

void to_rgb(const Hsv& hsv, float rgb[3]) {
  const float chroma = hsv.s * hsv.v, low = hsv.v - chroma;
  // Distance of each channel's peak from the hue, on a wheel of six sectors.
  const auto channel = [&](float peak) {
    float distance = std::abs(hsv.h * 6 - peak);
    distance = std::min(distance, 6 - distance);
    return low + chroma * std::clamp(2 - distance, 0.0f, 1.0f);
  };
  rgb[0] = channel(0);
  rgb[1] = channel(2);
  rgb[2] = channel(4);
}

template <typename T>
void grayscale_typed(const ImageView& image, const ImageSpan& gray) {
  for (int y = 0; y < image.height; ++y) {
    const T* p = image.row_as<T>(y);
    T* out = gray.row_as<T>(y);
    for (int x = 0; x < image.width; ++x, p += 3) {
      const T luma = from_unit<T>(load(p[0]) * kRed + load(p[1]) * kGreen + load(p[2]) * kBlue);
      for (int c = 0; c < gray.channels; ++c) *out++ = luma;
    }
  }
}

}  // namespace

void adjust_brightness(const ImageSpan& image, float delta) {
  each(image, [delta](int, float v) { return v + delta; });
}

void adjust_contrast(const ImageSpan& image, float factor) {
  const auto means = means_of(image);
  each(image, [&](int c, float v) { return (v - means[c]) * factor + means[c]; });
}

void adjust_saturation(const ImageSpan& image, float factor) {
  each_pixel(image, [factor](float* rgb) {
    Hsv hsv = to_hsv(rgb);
    hsv.s = std::clamp(hsv.s * factor, 0.0f, 1.0f);
    to_rgb(hsv, rgb);
  });
}

void adjust_hue(const ImageSpan& image, float delta) {
  each_pixel(image, [delta](float* rgb) {
    Hsv hsv = to_hsv(rgb);
    hsv.h += delta;
    hsv.h -= std::floor(hsv.h);
    to_rgb(hsv, rgb);
  });
}

void to_grayscale(const ImageView& image, const ImageSpan& gray) {
  assert(image.channels == 3 && image.dtype == gray.dtype);
  switch (image.dtype) {
    case DType::kUInt8: return grayscale_typed<uint8_t>(image, gray);
    case DType::kUInt16: return grayscale_typed<uint16_t>(image, gray);
    default: return grayscale_typed<float>(image, gray);
  }
}

}  // namespace headway
