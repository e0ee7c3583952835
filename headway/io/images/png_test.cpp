#include "headway/io/images/png.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "headway/core/random.h"
#include "headway/io/images/image_format.h"
#include "headway/io/images/unfilter.h"

namespace headway {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes noise(size_t count, uint64_t seed) {
  Random random(seed, 0, 0, 0);
  Bytes bytes(count);
  for (auto& byte : bytes) byte = uint8_t(random.next_u32() % 7 * 30);
  return bytes;
}

Bytes rows_of(const PngPixels& p) {
  Bytes out;
  for (int y = 0; y < p.height; ++y) {
    const uint8_t* row = p.data + y * p.row_stride_bytes;
    out.insert(out.end(), row, row + p.width * p.channels * size_of(p.dtype));
  }
  return out;
}

TEST(Png, RoundTripsEveryChannelCountAndDepth) {
  PngDecoder decoder;
  for (DType dtype : {DType::kUInt8, DType::kUInt16}) {
    for (int channels = 1; channels <= 4; ++channels) {
      for (const auto& [height, width] : {std::pair{31, 17}, {1, 1}, {2, 300}}) {
        const int64_t stride = width * channels * size_of(dtype);
        const Bytes pixels = noise(size_t(stride) * height, uint64_t(channels));
        const Bytes file = encode_png(pixels.data(), dtype, height, width, channels, stride);
        const Origin nowhere;
        EXPECT_EQ(decoder.open(file, nowhere).channels, channels);
        EXPECT_EQ(rows_of(decoder.decode({.dtype = dtype})), pixels);
      }
    }
  }
}

TEST(Png, DropsAndAddsChannels) {
  const Bytes rgba = {10, 20, 30, 40, 50, 60, 70, 80};
  const Bytes file = encode_png(rgba.data(), DType::kUInt8, 1, 2, 4, 8);
  PngDecoder decoder;
  const Origin nowhere;
  decoder.open(file, nowhere);
  EXPECT_EQ(rows_of(decoder.decode({.channels = 3})), (Bytes{10, 20, 30, 50, 60, 70}));
  const Bytes gray = {9, 200};
  const Bytes gray_file = encode_png(gray.data(), DType::kUInt8, 1, 2, 1, 2);
  decoder.open(gray_file, nowhere);
  EXPECT_EQ(rows_of(decoder.decode({.channels = 4})), (Bytes{9, 9, 9, 255, 200, 200, 200, 255}));
}

// PNG's own words for the filters.
uint8_t predicted(int filter, int left, int up, int corner) {
  const int p = left + up - corner;
  const int a = std::abs(p - left), b = std::abs(p - up), c = std::abs(p - corner);
  switch (filter) {
    case 1: return uint8_t(left);
    case 2: return uint8_t(up);
    case 3: return uint8_t((left + up) / 2);
    case 4: return uint8_t(a <= b && a <= c ? left : b <= c ? up : corner);
    default: return 0;
  }
}

// Rows of random bytes; their filters are `filters` over and over.
void expect_unfiltered(const std::vector<int>& filters, int pixel, int width, int rows) {
  Random random(3, uint64_t(pixel), uint64_t(width), 0);
  const int64_t size = int64_t{width} * pixel, stride = size + kUnfilterSlack;
  Bytes filtered, expected(size_t(size) * rows), zeros(stride), out(stride * rows), got;
  for (int y = 0; y < rows; ++y) {
    const int filter = filters[y % filters.size()];
    filtered.push_back(uint8_t(filter));
    uint8_t* row = &expected[size * y];
    const uint8_t* above = y ? row - size : zeros.data();
    for (int64_t i = 0; i < size; ++i) {
      filtered.push_back(uint8_t(random.next_u32()));
      const bool inner = i >= pixel;
      row[i] = uint8_t(filtered.back() + predicted(filter, inner ? row[i - pixel] : 0, above[i],
                                                   inner ? above[i - pixel] : 0));
    }
  }
  filtered.resize(filtered.size() + kUnfilterSlack);
  const FilteredImage image{filtered.data(), zeros.data(), size, rows, pixel};
  EXPECT_FALSE(unfilter(image, out.data(), stride));
  for (int y = 0; y < rows; ++y) got.insert(got.end(), &out[stride * y], &out[stride * y] + size);
  EXPECT_EQ(got, expected) << pixel << " bytes, width " << width << ", first filter " << filters[0];
}

TEST(Unfilter, MatchesTheSpecification) {
  const std::vector<std::vector<int>> filters = {
      {0}, {1}, {2}, {3}, {4}, {4, 1, 3, 2, 0}, {1, 3, 3, 2, 1, 4, 2, 2}};
  for (const auto& some : filters) {
    for (int pixel : {1, 2, 3, 4, 6, 8}) {
      for (int width : {1, 2, 5, 8, 9, 10, 11, 40}) expect_unfiltered(some, pixel, width, 13);
    }
  }
}

TEST(Unfilter, ReportsAFilterThatDoesNotExist) {
  Bytes filtered(5 * 31 + kUnfilterSlack), zeros(100), out(5 * 100);
  filtered[3 * 31] = 5;
  EXPECT_EQ(unfilter({filtered.data(), zeros.data(), 30, 5, 3}, out.data(), 100), 3);
}

std::string failure_of(const Bytes& file) {
  PngDecoder decoder;
  try {
    const Origin origin{.file = "cat.png"};
    decoder.open(file, origin);
    decoder.decode({});
  } catch (const SampleError& e) {
    return e.what();
  }
  return "";
}

Bytes sample() {
  const Bytes pixels = noise(30 * 30 * 3, 1);
  return encode_png(pixels.data(), DType::kUInt8, 30, 30, 3, 90);
}

TEST(Png, EveryByteChangedIsNoticedOrHarmless) {
  const Bytes good = sample();
  for (size_t i = 8; i < good.size(); ++i) {
    Bytes bad = good;
    bad[i] ^= 0x40;
    EXPECT_NE(failure_of(bad), "") << "byte " << i;
  }
}

TEST(Png, TruncationSaysWhere) {
  Bytes file = sample();
  file.resize(file.size() - 20);
  EXPECT_NE(failure_of(file).find("cat.png at byte 33: truncated PNG: chunk IDAT"),
            std::string::npos)
      << failure_of(file);
}

TEST(Png, WrongCrcNamesTheChunk) {
  Bytes file = sample();
  file[60] ^= 1;
  EXPECT_NE(failure_of(file).find("wrong CRC of chunk IDAT"), std::string::npos)
      << failure_of(file);
}

std::string unknown(const std::string& head) {
  const Bytes bytes(head.begin(), head.end());
  try {
    throw_unknown_format(bytes, {.file = "cat.jpg"});
  } catch (const SampleError& e) {
    return e.reason();
  }
}

TEST(ImageFormat, SaysWhatAFileIsInstead) {
  EXPECT_NE(unknown("GIF89a....").find("a GIF"), std::string::npos);
  EXPECT_NE(unknown("BM......").find("a BMP"), std::string::npos);
  EXPECT_NE(unknown("RIFF....WEBPVP8 ").find("a WebP"), std::string::npos);
  EXPECT_NE(unknown("\n<!DOCTYPE html>").find("a web page"), std::string::npos);
  EXPECT_NE(unknown("").find("the file is empty"), std::string::npos);
  EXPECT_NE(unknown("hello").find("starts with the bytes 68 65 6c 6c 6f"), std::string::npos);
}

}  // namespace
}  // namespace headway
