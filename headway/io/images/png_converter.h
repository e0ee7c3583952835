#pragma once

#include <array>
#include <cstdint>

#include "headway/io/images/png_format.h"

// Inside io/.
namespace headway {

// Rows in the file's format to rows as asked for.
class PngConverter {
 public:
  PngConverter(const PngHeader& header, const std::array<std::array<uint8_t, 4>, 256>& palette,
               const std::array<uint16_t, 3>& clear_color, int channels)
      : header_(header),
        palette_(palette),
        clear_color_(clear_color),
        channels_(channels),
        wide_(header.bit_depth == 16),
        color_source_(header.color != PngColor::kGray && header.color != PngColor::kGrayAlpha) {}

  template <typename T>
  void row(const uint8_t* from, int width, T* to) const {
    for (int x = 0; x < width; ++x) {
      const Pixel pixel = unpack(from, x);
      if (channels_ < 3) {
        *to++ = store<T>(color_source_ ? gray_of(pixel) : pixel.color[0]);
      } else {
        for (uint16_t value : pixel.color) *to++ = store<T>(value);
      }
      if (channels_ % 2 == 0) *to++ = store<T>(pixel.alpha);
    }
  }

 private:
  // A pixel at the file's depth (8 or 16 bits per sample once unpacked).
  struct Pixel {
    std::array<uint16_t, 3> color;
    uint16_t alpha;
  };
  // libpng's weights for gray, in 1/32768.
  static constexpr uint32_t kRed = 9797, kGreen = 19234, kBlue = 3737;

  uint16_t sample(const uint8_t* row, int64_t i) const {
    if (wide_) return uint16_t(row[2 * i] << 8 | row[2 * i + 1]);
    if (header_.bit_depth == 8) return row[i];
    const int bits = header_.bit_depth, per_byte = 8 / bits;
    return uint16_t(row[i / per_byte] >> (8 - bits * (int(i % per_byte) + 1)) & ((1 << bits) - 1));
  }

  Pixel unpack(const uint8_t* row, int x) const {
    const uint16_t opaque = wide_ ? 65535 : 255;
    switch (header_.color) {
      case PngColor::kPalette: {
        const auto& entry = palette_[sample(row, x)];
        return {{entry[0], entry[1], entry[2]}, entry[3]};
      }
      case PngColor::kGray: {
        const uint16_t raw = sample(row, x);
        const bool clear = header_.transparency && raw == clear_color_[0];
        const auto gray =
            uint16_t(header_.bit_depth < 8 ? raw * (255 / ((1 << header_.bit_depth) - 1)) : raw);
        return {{gray, gray, gray}, clear ? uint16_t{0} : opaque};
      }
      case PngColor::kGrayAlpha: {
        const uint16_t gray = sample(row, 2 * int64_t{x});
        return {{gray, gray, gray}, sample(row, 2 * int64_t{x} + 1)};
      }
      default: break;
    }
    const int samples = samples_of(header_.color);
    const int64_t i = int64_t{x} * samples;
    const std::array<uint16_t, 3> color{sample(row, i), sample(row, i + 1), sample(row, i + 2)};
    if (samples == 4) return {color, sample(row, i + 3)};
    return {color, header_.transparency && color == clear_color_ ? uint16_t{0} : opaque};
  }

  uint16_t gray_of(const Pixel& p) const {
    const uint32_t sum = kRed * p.color[0] + kGreen * p.color[1] + kBlue * p.color[2];
    if (p.color[0] == p.color[1] && p.color[0] == p.color[2]) return p.color[0];
    return uint16_t((sum + (wide_ ? 16384 : 0)) >> 15);
  }

  template <typename T>
  T store(uint16_t value) const {
    if constexpr (sizeof(T) == 1) return T(wide_ ? value >> 8 : value);
    else return wide_ ? value : T(value * 257);
  }

  const PngHeader& header_;
  const std::array<std::array<uint8_t, 4>, 256>& palette_;
  const std::array<uint16_t, 3>& clear_color_;
  const int channels_;
  const bool wide_;
  const bool color_source_;
};

}  // namespace headway
