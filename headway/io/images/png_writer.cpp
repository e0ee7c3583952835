#include <fmt/format.h>
#include <libdeflate.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "headway/core/error.h"
#include "headway/io/images/png.h"
#include "headway/io/images/png_format.h"

namespace headway {
namespace {

void append_word(std::vector<uint8_t>& out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(uint8_t(value >> shift));
}

void append_chunk(std::vector<uint8_t>& out, uint32_t type, std::span<const uint8_t> data) {
  append_word(out, uint32_t(data.size()));
  const size_t start = out.size();
  append_word(out, type);
  out.insert(out.end(), data.begin(), data.end());
  append_word(out, libdeflate_crc32(0, &out[start], out.size() - start));
}

int paeth(int left, int up, int corner) {
  const int from_left = std::abs(up - corner), from_up = std::abs(left - corner);
  const int from_corner = std::abs(left + up - 2 * corner);
  if (from_left <= from_up && from_left <= from_corner) return left;
  return from_up <= from_corner ? up : corner;
}

void apply_filter(int filter, const uint8_t* row, const uint8_t* above, int64_t row_bytes,
                  int pixel_bytes, uint8_t* out) {
  for (int64_t i = 0; i < row_bytes; ++i) {
    const int left = i >= pixel_bytes ? row[i - pixel_bytes] : 0, up = above[i];
    const int corner = i >= pixel_bytes ? above[i - pixel_bytes] : 0;
    const int predictions[] = {0, left, up, (left + up) / 2, paeth(left, up, corner)};
    out[i] = uint8_t(row[i] - predictions[filter]);
  }
}

// Of the five filters the one with the smallest residues, the usual guess at what packs best.
void filter_row(const uint8_t* row, const uint8_t* above, int64_t row_bytes, int pixel_bytes,
                std::vector<uint8_t>& trial, uint8_t* out) {
  int64_t best = INT64_MAX;
  for (int filter = 0; filter < 5; ++filter) {
    apply_filter(filter, row, above, row_bytes, pixel_bytes, trial.data());
    int64_t cost = 0;
    for (int64_t i = 0; i < row_bytes; ++i) cost += std::abs(int8_t(trial[i]));
    if (cost >= best) continue;
    best = cost;
    out[0] = uint8_t(filter);
    std::memcpy(out + 1, trial.data(), size_t(row_bytes));
  }
}

std::vector<uint8_t> compress(std::span<const uint8_t> raw, int level) {
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(level), libdeflate_free_compressor);
  if (!compressor)
    throw Error(fmt::format("encode_png: invalid compression level {}", level),
                "give 0 (fastest) to 12 (smallest file); the default is 6");
  std::vector<uint8_t> packed(libdeflate_zlib_compress_bound(compressor.get(), raw.size()));
  packed.resize(libdeflate_zlib_compress(compressor.get(), raw.data(), raw.size(), packed.data(),
                                         packed.size()));
  return packed;
}

}  // namespace

std::vector<uint8_t> encode_png(const void* pixels, DType dtype, int height, int width,
                                int channels, int64_t row_stride_bytes, int level) {
  if (channels < 1 || channels > 4 || (dtype != DType::kUInt8 && dtype != DType::kUInt16)) {
    throw Error(
        fmt::format("encode_png: {} channels of {} cannot be written", channels, name_of(dtype)),
        "give 1 to 4 channels of uint8 or uint16");
  }
  constexpr PngColor kColors[] = {PngColor::kGray, PngColor::kGrayAlpha, PngColor::kRGB,
                                  PngColor::kRGBA};
  const int depth = dtype == DType::kUInt8 ? 8 : 16, pixel_bytes = channels * depth / 8;
  const int64_t row_bytes = int64_t{width} * pixel_bytes;
  std::vector<uint8_t> filtered(size_t(row_bytes + 1) * height);
  std::vector<uint8_t> row(row_bytes), above(row_bytes), trial(row_bytes);
  for (int y = 0; y < height; ++y) {
    const uint8_t* from = static_cast<const uint8_t*>(pixels) + y * row_stride_bytes;
    std::memcpy(row.data(), from, size_t(row_bytes));
    if (depth == 16) {
      for (int64_t i = 0; i < row_bytes; i += 2) std::swap(row[i], row[i + 1]);
    }
    filter_row(row.data(), above.data(), row_bytes, pixel_bytes, trial,
               &filtered[size_t(row_bytes + 1) * y]);
    std::swap(row, above);
  }
  std::vector<uint8_t> out(std::begin(kPngSignature), std::end(kPngSignature));
  std::vector<uint8_t> head;
  append_word(head, uint32_t(width));
  append_word(head, uint32_t(height));
  head.insert(head.end(), {uint8_t(depth), uint8_t(kColors[channels - 1]), 0, 0, 0});
  append_chunk(out, tag("IHDR"), head);
  append_chunk(out, tag("IDAT"), compress(filtered, level));
  append_chunk(out, tag("IEND"), {});
  return out;
}

}  // namespace headway
