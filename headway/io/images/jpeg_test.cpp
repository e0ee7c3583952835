#include "headway/io/images/jpeg.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <string>
#include <vector>

#include "headway/core/random.h"
#include "headway/core/under_sanitizer.h"

namespace headway {
namespace {

using Bytes = std::vector<uint8_t>;

// Slopes, edges and noise: every chroma sample differs from its neighbours.
Bytes picture(int height, int width, int channels) {
  Random random(height, width, channels, 0);
  Bytes pixels;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        const double wave = 60 * std::sin(x * 0.3 + c) + 50 * std::cos(y * 0.21 + 2 * c);
        pixels.push_back(uint8_t(128 + wave + random.uniform(-17, 17)));
      }
    }
  }
  return pixels;
}

struct Kind {
  int horizontal, vertical, channels;
  bool progressive;
};
constexpr Kind kKinds[] = {{1, 1, 3, false}, {2, 1, 3, false}, {2, 2, 3, false}, {1, 2, 3, false},
                           {4, 1, 3, false}, {4, 2, 3, false}, {1, 1, 1, false}, {1, 1, 3, true},
                           {2, 1, 3, true},  {2, 2, 3, true},  {1, 2, 3, true},  {1, 1, 1, true}};

Bytes jpeg(const Kind& kind, int height, int width) {
  const Bytes pixels = picture(height, width, kind.channels);
  return encode_jpeg(pixels.data(), height, width, kind.channels, int64_t{width} * kind.channels,
                     {.quality = 90,
                      .progressive = kind.progressive,
                      .horizontal = kind.horizontal,
                      .vertical = kind.vertical});
}

struct Image {
  int width, height, channels;
  Bytes pixels;

  Bytes part(const JpegOptions::Window& w) const {
    Bytes out;
    for (int y = w.y; y < w.y + w.height; ++y) {
      const auto from = pixels.begin() + (int64_t{y} * width + w.x) * channels;
      out.insert(out.end(), from, from + w.width * channels);
    }
    return out;
  }
};

Image decode(JpegDecoder& decoder, const Bytes& file, JpegOptions options) {
  const Origin nowhere;
  const JpegHeader header = decoder.open(file, nowhere);
  const int d = options.scale_denominator;
  const int width = options.window ? options.window->width : (header.width + d - 1) / d;
  const int height = options.window ? options.window->height : (header.height + d - 1) / d;
  const int channels = options.channels ? options.channels : std::min(header.channels, 3);
  Image image{width, height, channels, Bytes(size_t(width) * height * channels)};
  decoder.decode_into(options, image.pixels.data(), int64_t{width} * channels);
  return image;
}

void expect_windows_exact(DecodeMode mode, int denominator) {
  JpegDecoder decoder;
  Random random(7, 0, 0, 0);
  for (const Kind& kind : kKinds) {
    for (const auto& [height, width] : {std::pair{97, 131}, {64, 64}, {16, 200}, {203, 33}}) {
      const Bytes file = jpeg(kind, height, width);
      JpegOptions options{.mode = mode, .scale_denominator = denominator};
      const Image whole = decode(decoder, file, options);
      for (int i = 0; i < 60; ++i) {
        const int w = 1 + int(random.below(whole.width)), h = 1 + int(random.below(whole.height));
        const int x = int(random.below(whole.width - w + 1)),
                  y = int(random.below(whole.height - h + 1));
        options.window = {x, y, w, h};
        ASSERT_EQ(decode(decoder, file, options).pixels, whole.part(*options.window))
            << kind.horizontal << "x" << kind.vertical << " channels " << kind.channels
            << (kind.progressive ? " progressive " : " ") << width << "x" << height << ": window "
            << w << "x" << h << " at " << x << "," << y;
      }
    }
  }
}

TEST(Jpeg, WindowHasThePixelsOfTheWholeImage) { expect_windows_exact(DecodeMode::kExact, 1); }
TEST(Jpeg, FastWindowHasThePixelsOfTheWholeFastImage) {
  expect_windows_exact(DecodeMode::kFast, 1);
}
TEST(Jpeg, ScaledWindowHasThePixelsOfTheWholeScaledImage) {
  for (int denominator : {2, 4, 8}) {
    expect_windows_exact(DecodeMode::kExact, denominator);
    expect_windows_exact(DecodeMode::kFast, denominator);
  }
}

TEST(Jpeg, HeaderTellsSizeAndColour) {
  JpegDecoder decoder;
  const JpegHeader gray = decoder.read_header(jpeg({1, 1, 1, false}, 10, 20), {});
  EXPECT_EQ(gray.width, 20);
  EXPECT_EQ(gray.height, 10);
  EXPECT_EQ(gray.color, JpegColor::kGray);
  EXPECT_EQ(decoder.read_header(jpeg({2, 2, 3, false}, 10, 20), {}).color, JpegColor::kYCbCr);
}

TEST(Jpeg, DecodesCloseToWhatWasEncoded) {
  JpegDecoder decoder;
  const Bytes original = picture(50, 60, 1);
  const Image image =
      decode(decoder, encode_jpeg(original.data(), 50, 60, 1, 60, {.quality = 100}), {});
  for (size_t i = 0; i < original.size(); ++i) ASSERT_NEAR(image.pixels[i], original[i], 3);
}

std::string failure_of(const Bytes& file, JpegOptions options = {}) {
  JpegDecoder decoder;
  try {
    const Origin origin{.file = "cat.jpg"};
    decoder.open(file, origin);
    decoder.decode(options, [](const uint8_t*) {});
  } catch (const SampleError& e) {
    return e.what();
  }
  return "";
}

TEST(Jpeg, TruncationNamesFileOffsetAndRow) {
  Bytes file = jpeg({2, 2, 3, false}, 64, 64);
  file.resize(file.size() / 2);
  const std::string text = failure_of(file);
  EXPECT_NE(text.find("cat.jpg at byte "), text.npos) << text;
  EXPECT_NE(text.find("truncated JPEG: the file ends after row"), text.npos) << text;
  EXPECT_EQ(failure_of(file, {.allow_damage = true}), "");
}

TEST(Jpeg, RowsAboveTheDamageAreStillGiven) {
  Bytes file = jpeg({1, 1, 3, false}, 200, 64);
  file.resize(file.size() / 2);
  EXPECT_EQ(failure_of(file, {.window = JpegOptions::Window{0, 0, 64, 8}}), "");
}

TEST(Jpeg, RefusesSizesThatTheBytesCannotHold) {
  Bytes file = jpeg({2, 2, 3, false}, 64, 64);
  for (size_t i = 0; i + 9 < file.size(); ++i) {
    if (file[i] != 0xFF || file[i + 1] != 0xC0) continue;
    for (int k : {5, 6, 7, 8}) file[i + k] = 0x3F;
    break;
  }
  EXPECT_NE(failure_of(file).find("16191x16191"), std::string::npos) << failure_of(file);
}

TEST(Jpeg, RefusesWhatIsNoJpeg) {
  EXPECT_NE(failure_of({}).find("the file is empty"), std::string::npos);
  EXPECT_NE(failure_of({'h', 'e', 'l', 'l', 'o'}).find("cannot be decoded"), std::string::npos);
  EXPECT_NE(failure_of(jpeg({1, 1, 3, false}, 8, 8), {.window = JpegOptions::Window{0, 0, 9, 8}})
                .find("outside"),
            std::string::npos);
}

// Takes what address space there is but for this much.
void limit_memory(rlim_t left_bytes) {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t limit = pages * rlim_t(sysconf(_SC_PAGESIZE)) + left_bytes;
  const rlimit limits{limit, limit};
  setrlimit(RLIMIT_AS, &limits);
}

TEST(JpegDeathTest, TooLittleMemoryIsNotTheFilesFault) {
  if (kUnderSanitizer) GTEST_SKIP() << "a sanitizer may need more addresses than can be left";
  const Bytes pixels(size_t{3000} * 3000, 77);
  const Bytes file = encode_jpeg(pixels.data(), 3000, 3000, 1, 3000, {.progressive = true});
  const auto decode_in_little = [&] {
    JpegDecoder decoder;
    const Origin origin{.file = "cat.jpg"};
    decoder.open(file, origin);
    limit_memory(4 << 20);
    try {
      decoder.decode({}, [](const uint8_t*) {});
    } catch (const std::bad_alloc&) {
      std::_Exit(0);
    } catch (const SampleError&) {
    }
    std::_Exit(1);
  };
  EXPECT_EXIT(decode_in_little(), testing::ExitedWithCode(0), "");
}

TEST(Jpeg, HandleWorksAgainAfterAFailure) {
  JpegDecoder decoder;
  const Bytes good = jpeg({2, 2, 3, false}, 32, 32);
  const Bytes bad(good.begin(), good.begin() + 300);
  const Image before = decode(decoder, good, {});
  for (int i = 0; i < 3; ++i) EXPECT_THROW(decode(decoder, bad, {}), SampleError);
  EXPECT_EQ(decode(decoder, good, {}).pixels, before.pixels);
}

TEST(Jpeg, AThrowingRowFunctionLeavesTheHandleUsable) {
  JpegDecoder decoder;
  const Bytes file = jpeg({2, 2, 3, false}, 32, 32);
  const Origin nowhere;
  decoder.open(file, nowhere);
  EXPECT_THROW(decoder.decode({}, [](const uint8_t*) { throw Error("enough"); }), Error);
  EXPECT_EQ(decode(decoder, file, {}).height, 32);
}

TEST(Jpeg, ReadsTheExifOrientation) {
  const Bytes plain = jpeg({1, 1, 3, false}, 8, 8);
  for (uint8_t orientation = 1; orientation <= 8; ++orientation) {
    const Bytes exif = {0xFF, 0xE1, 0, 34, 'E', 'x',         'i', 'f', 0, 0,    'M', 'M',
                        0,    42,   0, 0,  0,   8,           0,   1,   1, 0x12, 0,   3,
                        0,    0,    0, 1,  0,   orientation, 0,   0,   0, 0,    0,   0};
    Bytes file(plain.begin(), plain.begin() + 2);
    file.insert(file.end(), exif.begin(), exif.end());
    file.insert(file.end(), plain.begin() + 2, plain.end());
    JpegDecoder decoder;
    EXPECT_EQ(decoder.read_header(file, {}).orientation, orientation);
  }
}

}  // namespace
}  // namespace headway
