// With a libjpeg whose layout nobody knows (other_layout.cpp).
#include <gtest/gtest.h>

#include <vector>

#include "headway/core/random.h"
#include "headway/io/images/jpeg.h"
#include "headway/io/images/jpeg_entropy.h"
#include "headway/io/images/jpeg_layout.h"

namespace headway {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr int kSide = 64;

Bytes noise() {
  Random random(1, 0, 0, 0);
  Bytes pixels;
  for (int i = 0; i < kSide * kSide; ++i) pixels.push_back(uint8_t(96 + random.below(64)));
  return pixels;
}

Bytes encoded(const JpegEncoding& encoding) {
  return encode_jpeg(noise().data(), kSide, kSide, 1, kSide, encoding);
}

TEST(OtherLayout, IsFoundOutWithoutHarm) { EXPECT_FALSE(sequential_methods().has_value()); }

TEST(OtherLayout, KeepsItsOwnReader) {
  const Bytes file = encoded({});
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, file.data(), file.size());
  jpeg_read_header(&info, TRUE);
  jpeg_start_decompress(&info);
  const auto* const before = info.entropy;
  JpegEntropy entropy;
  EXPECT_FALSE(entropy.take_over(info));
  EXPECT_EQ(info.entropy, before);
  jpeg_destroy_decompress(&info);
}

TEST(OtherLayout, FilesAreDecoded) {
  JpegDecoder decoder;
  const Origin origin{.file = "file"};
  for (const bool progressive : {false, true}) {
    const Bytes file = encoded({.quality = 100, .progressive = progressive});
    Bytes pixels(size_t{kSide} * kSide);
    decoder.open(file, origin);
    decoder.decode_into({}, pixels.data(), kSide);
    const Bytes original = noise();
    for (size_t i = 0; i < pixels.size(); ++i) ASSERT_NEAR(pixels[i], original[i], 3);
  }
}

}  // namespace
}  // namespace headway
