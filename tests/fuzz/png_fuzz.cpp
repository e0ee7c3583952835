// Any bytes through the PNG decoder. The last byte chooses channels and depth.
//
// Random bytes never have the right checksums, so that chunks are walked but nothing is decoded:
// with the top bit set, the rest is taken as a header and filtered rows, and wrapped properly.
#include <libdeflate.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "headway/io/images/png.h"

namespace {

using Bytes = std::vector<uint8_t>;

void put(Bytes& out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(uint8_t(value >> shift));
}

void chunk(Bytes& out, const char* name, std::span<const uint8_t> data) {
  put(out, uint32_t(data.size()));
  const size_t start = out.size();
  out.insert(out.end(), name, name + 4);
  out.insert(out.end(), data.begin(), data.end());
  put(out, libdeflate_crc32(0, &out[start], out.size() - start));
}

Bytes wrapped(std::span<const uint8_t> data) {
  if (data.size() < 16) return {};
  Bytes out = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  const Bytes header = {0,
                        0,
                        uint8_t(data[0] & 3),
                        data[1],
                        0,
                        0,
                        uint8_t(data[2] & 3),
                        data[3],
                        uint8_t(1 << data[4] % 5),
                        data[5],
                        0,
                        0,
                        uint8_t(data[6] & 1)};
  chunk(out, "IHDR", header);
  const size_t palette = size_t(data[7]) * 3, clear = data[8];
  data = data.subspan(9);
  if (palette > 0 && palette < data.size()) {
    chunk(out, "PLTE", data.first(palette));
    data = data.subspan(palette);
  }
  if (clear > 0 && clear < data.size()) {
    chunk(out, "tRNS", data.first(clear));
    data = data.subspan(clear);
  }
  static libdeflate_compressor* compressor = libdeflate_alloc_compressor(1);
  Bytes packed(libdeflate_zlib_compress_bound(compressor, data.size()));
  packed.resize(
      libdeflate_zlib_compress(compressor, data.data(), data.size(), packed.data(), packed.size()));
  chunk(out, "IDAT", packed);
  chunk(out, "IEND", {});
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace headway;
  static PngDecoder decoder;
  if (size < 2) return 0;
  const uint8_t choice = data[size - 1];
  const std::span<const uint8_t> bytes(data, size - 1);
  const Bytes made = choice & 128 ? wrapped(bytes) : Bytes();
  const Origin origin{.file = "fuzz"};
  try {
    decoder.open(made.empty() ? bytes : std::span<const uint8_t>(made), origin);
    const PngPixels pixels = decoder.decode(
        {.channels = choice % 5, .dtype = choice & 64 ? DType::kUInt16 : DType::kUInt8});
    uint64_t sum = 0;
    for (int y = 0; y < pixels.height; ++y) sum += pixels.data[y * pixels.row_stride_bytes];
    if (sum == 1) return 0;  // so that the reads are not left out
  } catch (const SampleError&) {
  }
  return 0;
}
