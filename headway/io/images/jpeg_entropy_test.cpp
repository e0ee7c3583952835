#include "headway/io/images/jpeg_entropy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "headway/core/random.h"
#include "headway/io/images/jpeg.h"
#include "headway/io/images/libjpeg.h"

namespace headway {
namespace {

using Bytes = std::vector<uint8_t>;

// Noise of that strength over a slope: every kind of code is used.
Bytes drawn(const JpegEncoding& encoding, int height, int width, int channels, int noise,
            uint64_t seed) {
  Random random(seed, 0, 0, 0);
  Bytes pixels;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        const int at = (x + 2 * y + 31 * c) % 200 + int(random.below(uint64_t(noise) + 1));
        pixels.push_back(uint8_t(std::min(at, 255)));
      }
    }
  }
  return encode_jpeg(pixels.data(), height, width, channels, int64_t{width} * channels, encoding);
}

// The pixels, unless it is refused.
std::string outcome(const Bytes& file, JpegOptions options, bool plain) {
  static JpegDecoder decoder;
  options.plain = plain;
  std::string pixels;
  const Origin origin;
  try {
    const JpegHeader header = decoder.open(file, origin);
    const int width =
        options.window ? options.window->width
                       : (header.width + options.scale_denominator - 1) / options.scale_denominator;
    const int channels = std::min(header.channels, 3);
    decoder.decode(options, [&](const uint8_t* row) {
      pixels.append(reinterpret_cast<const char*>(row), size_t(width) * channels);
    });
  } catch (const SampleError&) {
    return "refused";
  }
  return pixels;
}

void expect_same(const Bytes& file, const JpegOptions& options, const std::string& about) {
  ASSERT_TRUE(outcome(file, options, false) == outcome(file, options, true)) << about;
}

TEST(JpegEntropy, PixelsAreThoseOfLibjpegForEveryKindOfFile) {
  constexpr std::pair<int, int> kSubsampling[] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}};
  uint64_t seed = 0;
  for (const auto& [horizontal, vertical] : kSubsampling) {
    for (const int quality : {1, 30, 75, 95, 100}) {
      for (const int restart_interval : {0, 1, 7}) {
        for (const int channels : {1, 3}) {
          const Bytes file = drawn({.quality = quality,
                                    .horizontal = horizontal,
                                    .vertical = vertical,
                                    .restart_interval = restart_interval},
                                   61, 83, channels, quality > 90 ? 120 : 20, ++seed);
          for (const auto mode : {DecodeMode::kExact, DecodeMode::kFast}) {
            for (const int scale : {1, 2, 8}) {
              expect_same(file, {.mode = mode, .scale_denominator = scale},
                          "file " + std::to_string(seed));
            }
            expect_same(file, {.mode = mode, .window = JpegOptions::Window{40, 17, 30, 25}},
                        "window of file " + std::to_string(seed));
          }
        }
      }
    }
  }
}

// Blocks at both ends of what can be coded: all zero, and nothing but large coefficients.
TEST(JpegEntropy, LongestCodesAndEmptyBlocksAreRead) {
  Bytes pixels;
  for (int i = 0; i < 64 * 64; ++i) pixels.push_back(i % 64 < 32 ? 128 : (i * 7919 >> 3) % 2 * 255);
  const Bytes file = encode_jpeg(pixels.data(), 64, 64, 1, 64, {.quality = 100});
  expect_same(file, {}, "checkered");
}

TEST(JpegEntropy, DamageIsSeenWhereLibjpegSeesIt) {
  Random random(3, 0, 0, 0);
  int refused = 0;
  for (const int restart_interval : {0, 5}) {
    const Bytes whole = drawn({.restart_interval = restart_interval}, 48, 64, 3, 40, 9);
    for (int i = 0; i < 600; ++i) {
      Bytes file = whole;
      // Behind the header, and not the mark of the end: it is not missed when all pixels are there.
      const size_t at = 620 + random.below(file.size() - 2 - 620);
      file[at] = uint8_t(random.below(256));
      if (i % 3 == 0) file.resize(at);
      const bool sees = outcome(file, {}, false) == "refused";
      EXPECT_EQ(sees, outcome(file, {}, true) == "refused") << "byte " << at << " of file " << i;
      if (!sees) expect_same(file, {}, "byte " + std::to_string(at));
      refused += sees;
    }
  }
  EXPECT_GT(refused, 400);
  EXPECT_LT(refused, 1200);
}

bool takes_over(const Bytes& file) {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, file.data(), file.size());
  jpeg_read_header(&info, TRUE);
  jpeg_start_decompress(&info);
  JpegEntropy entropy;
  const bool taken = entropy.take_over(info);
  jpeg_destroy_decompress(&info);
  return taken;
}

TEST(JpegEntropy, OnlyTheMarkOfTheEndMayBeMissing) {
  const Bytes whole = drawn({}, 48, 64, 3, 40, 9);
  EXPECT_TRUE(outcome({whole.begin(), whole.end() - 2}, {}, false) == outcome(whole, {}, true));
  EXPECT_EQ(outcome({whole.begin(), whole.end() - 4}, {}, false), "refused");
}

TEST(JpegEntropy, LeavesProgressiveFilesToLibjpeg) {
  EXPECT_TRUE(takes_over(drawn({}, 16, 16, 3, 9, 1)));
  EXPECT_TRUE(takes_over(drawn({.restart_interval = 2}, 16, 16, 3, 9, 1)));
  EXPECT_FALSE(takes_over(drawn({.progressive = true}, 16, 16, 3, 9, 1)));
}

}  // namespace
}  // namespace headway
