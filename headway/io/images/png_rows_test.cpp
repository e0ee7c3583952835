// PNG images larger than what is decoded at a time, in files cut into pieces at awkward places.
#include <gtest/gtest.h>
#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "headway/core/random.h"
#include "headway/io/images/png.h"
#include "headway/io/images/png_format.h"

namespace headway {
namespace {

using Bytes = std::vector<uint8_t>;

void append_word(Bytes& out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(uint8_t(value >> shift));
}

void append_chunk(Bytes& out, uint32_t type, std::span<const uint8_t> data) {
  append_word(out, uint32_t(data.size()));
  const size_t start = out.size();
  append_word(out, type);
  out.insert(out.end(), data.begin(), data.end());
  append_word(out, libdeflate_crc32(0, &out[start], out.size() - start));
}

Bytes packed(const Bytes& raw) {
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(1);
  Bytes out(libdeflate_zlib_compress_bound(compressor, raw.size()));
  out.resize(libdeflate_zlib_compress(compressor, raw.data(), raw.size(), out.data(), out.size()));
  libdeflate_free_compressor(compressor);
  return out;
}

// An RGB image whose pixels can be told apart, and files of it.
struct Picture {
  int width, height;
  Bytes pixels;

  Picture(int width, int height)
      : width(width), height(height), pixels(size_t(3) * width * height) {
    Random random(1, 2, 3, 4);
    for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = uint8_t(i / 7 + (random.next_u32() & 3));
  }

  // Every dx-th pixel of every dy-th row, each row behind its filter: none, or the row above.
  void append_pass(Bytes& raw, int x0, int y0, int dx, int dy) const {
    Bytes above;
    for (int y = y0; y < height && x0 < width; y += dy) {
      Bytes row;
      for (int x = x0; x < width; x += dx)
        row.insert(row.end(), &pixels[3 * (size_t(y) * width + x)],
                   &pixels[3 * (size_t(y) * width + x)] + 3);
      const bool up = !above.empty() && y % 3 > 0;
      raw.push_back(up ? 2 : 0);
      for (size_t i = 0; i < row.size(); ++i) raw.push_back(uint8_t(row[i] - (up ? above[i] : 0)));
      above = row;
    }
  }

  Bytes filtered(bool interlaced) const {
    Bytes raw;
    if (!interlaced) append_pass(raw, 0, 0, 1, 1);
    else
      for (const auto& [x0, y0, dx, dy] : {std::array{0, 0, 8, 8},
                                           {4, 0, 8, 8},
                                           {0, 4, 4, 8},
                                           {2, 0, 4, 4},
                                           {0, 2, 2, 4},
                                           {1, 0, 2, 2},
                                           {0, 1, 1, 2}})
        append_pass(raw, x0, y0, dx, dy);
    return raw;
  }

  // The compressed data in chunks of `piece` bytes.
  Bytes file(const Bytes& data, bool interlaced, size_t piece) const {
    Bytes out(std::begin(kPngSignature), std::end(kPngSignature)), head;
    append_word(head, uint32_t(width));
    append_word(head, uint32_t(height));
    head.insert(head.end(), {8, uint8_t(PngColor::kRGB), 0, 0, uint8_t(interlaced)});
    append_chunk(out, tag("IHDR"), head);
    for (size_t at = 0; at < data.size(); at += piece)
      append_chunk(out, tag("IDAT"),
                   std::span(data).subspan(at, std::min(piece, data.size() - at)));
    append_chunk(out, tag("IEND"), {});
    return out;
  }
};

Bytes rows_of(const Bytes& file) {
  PngDecoder decoder;
  const Origin origin{.file = "cat.png"};
  const PngHeader header = decoder.open(file, origin);
  Bytes out;
  decoder.decode({},
                 [&](const uint8_t* row) { out.insert(out.end(), row, row + 3 * header.width); });
  return out;
}

std::string failure_of(const Bytes& file) {
  try {
    rows_of(file);
  } catch (const SampleError& e) {
    return e.reason();
  }
  return "";
}

TEST(PngRows, ManyBandsGiveTheWholeImageInWhateverPiecesItCame) {
  const Picture picture(1001, 1203);  // 3.6 MB
  for (const bool interlaced : {false, true}) {
    const Bytes data = packed(picture.filtered(interlaced));
    for (const size_t piece : {data.size(), size_t{65'537}, size_t{8192}, size_t{13}}) {
      EXPECT_EQ(rows_of(picture.file(data, interlaced, piece)), picture.pixels)
          << interlaced << ", pieces of " << piece;
    }
  }
}

TEST(PngRows, TooMuchTooLittleAndAWrongSumAreNoticedBehindTheLastBand) {
  const Picture picture(700, 900);
  Bytes raw = picture.filtered(false);
  raw.push_back(0);
  EXPECT_EQ(failure_of(picture.file(packed(raw), false, 1000)),
            "PNG with more image data than pixels");
  raw.resize(raw.size() - 2);
  EXPECT_EQ(failure_of(picture.file(packed(raw), false, 1000)),
            "PNG with too little image data for 700x900 pixels");
  Bytes data = packed(picture.filtered(false));
  data.back() ^= 1;
  EXPECT_EQ(failure_of(picture.file(data, false, 1000)),
            "damaged PNG: its image data does not inflate");
  data.resize(data.size() - 4);  // no sum at all
  EXPECT_EQ(failure_of(picture.file(data, false, 1000)), "PNG whose image data has no end");
}

}  // namespace
}  // namespace headway
