// Files that no encoder at hand writes: put together marker by marker.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "headway/io/images/jpeg.h"

namespace headway {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint8_t kBaseline = 0xC0, kExtended = 0xC1, kLossless = 0xC3;

struct Kind {
  uint8_t frame = kBaseline;
  uint8_t bits = 8;
  uint8_t tables = 0x00;         // the scan's choice: DC in the upper half, AC in the lower
  uint8_t first = 0, last = 63;  // coefficients; in a lossless file `first` is the predictor
};

// Gray, side x side. Both Huffman tables have one code, the bit 0: for a DC difference of `dc_bits`
// bits, and for the end of the block. `scan` is the coded data.
Bytes handmade(const Kind& kind, int side, uint8_t dc_bits, const Bytes& scan) {
  const uint8_t high = uint8_t(side >> 8), low = uint8_t(side);
  Bytes file = {0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0};
  file.insert(file.end(), 64, 1);
  file.insert(file.end(),
              {0xFF, kind.frame, 0, 11, kind.bits, high, low, high, low, 1, 1, 0x11, 0});
  for (const uint8_t ac : {0, 1}) {
    file.insert(file.end(), {0xFF, 0xC4, 0, 20, uint8_t(ac << 4), 1});
    file.insert(file.end(), 15, 0);
    file.push_back(ac ? 0 : dc_bits);
  }
  file.insert(file.end(), {0xFF, 0xDA, 0, 8, 1, 1, kind.tables, kind.first, kind.last, 0});
  file.insert(file.end(), scan.begin(), scan.end());
  file.insert(file.end(), {0xFF, 0xD9});
  return file;
}

struct Decoded {
  std::string error;
  Bytes pixels;
  bool operator==(const Decoded&) const = default;
};

Decoded decoded(const Bytes& file, const JpegOptions& options = {}) {
  const Origin origin{.file = "odd.jpg"};
  JpegDecoder decoder;
  Decoded result;
  try {
    const JpegHeader header = decoder.open(file, origin);
    const int scale = options.scale_denominator;
    const int height = (header.height + scale - 1) / scale,
              width = (header.width + scale - 1) / scale;
    Bytes pixels(size_t(height) * size_t(width));
    decoder.decode_into(options, pixels.data(), width);
    result.pixels = pixels;
  } catch (const SampleError& e) {
    result.error = e.what();
  }
  return result;
}

TEST(JpegHandmade, AreReadWhenNothingIsOddAboutThem) {
  EXPECT_EQ(decoded(handmade({}, 16, 0, {0, 0})), (Decoded{"", Bytes(256, 128)}));
}

// libjpeg-turbo 3 could, at full size only; its reader for them has another layout.
TEST(JpegHandmade, LosslessFilesAreRefusedAtEverySize) {
  const Bytes file = handmade({.frame = kLossless, .first = 1, .last = 0}, 64, 0, Bytes(1024, 0));
  for (const int scale : {1, 2, 8}) {
    for (const bool plain : {false, true}) {
      const Decoded result = decoded(file, {.scale_denominator = scale, .plain = plain});
      EXPECT_NE(result.error.find("odd.jpg at byte "), std::string::npos) << result.error;
    }
  }
}

TEST(JpegHandmade, OtherThanEightBitsAreRefused) {
  for (const uint8_t bits : {4, 12, 16}) {
    const std::string extended = decoded(handmade({kExtended, bits}, 16, 0, {0, 0})).error;
    EXPECT_NE(extended.find("odd.jpg at byte "), std::string::npos) << extended;
    const std::string lossless =
        decoded(handmade({kLossless, bits, 0, 1, 0}, 16, 0, Bytes(64, 0))).error;
    EXPECT_NE(lossless.find("odd.jpg at byte "), std::string::npos) << lossless;
  }
}

TEST(JpegHandmade, TablesThatAreNotThereAreMissed) {
  for (const uint8_t tables : {0x20, 0x02, 0xF0, 0x0F}) {
    const std::string error = decoded(handmade({.tables = tables}, 16, 0, {0, 0})).error;
    EXPECT_NE(error.find("odd.jpg at byte "), std::string::npos) << error;
  }
}

// Each block of 17 bits adds 32767 to the one before: after 65540 blocks 31 bits do not hold it.
TEST(JpegHandmade, BrightnessThatGrowsForEverWrapsAsLibjpegsDoes) {
  constexpr int kSide = 2080, kBlocks = (kSide / 8) * (kSide / 8);
  Bytes scan;
  uint32_t bits = 0;
  int count = 0;
  for (int i = 0; i < kBlocks; ++i) {
    bits = bits << 17 | 0xFFFE;
    for (count += 17; count >= 8; count -= 8) {
      scan.push_back(uint8_t(bits >> (count - 8)));
      if (scan.back() == 0xFF) scan.push_back(0);
    }
  }
  const Bytes file = handmade({.frame = kExtended}, kSide, 15, scan);
  const Decoded ours = decoded(file);
  EXPECT_EQ(ours.error, "");
  EXPECT_TRUE(ours == decoded(file, {.plain = true}));
}

TEST(JpegHandmade, RowsThatDoNotFitAreNotWritten) {
  const Bytes file = handmade({}, 16, 0, {0, 0});
  JpegDecoder decoder;
  Bytes row(16);
  const Origin origin;
  decoder.open(file, origin);
  EXPECT_THROW(decoder.decode_into({}, row.data(), 15), Error);
}

}  // namespace
}  // namespace headway
