#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "headway/core/error.h"
#include "headway/core/tensor.h"

namespace headway {

enum class PngColor : uint8_t { kGray = 0, kRGB = 2, kPalette = 3, kGrayAlpha = 4, kRGBA = 6 };

struct PngHeader {
  int width = 0;
  int height = 0;
  int bit_depth = 0;  // 1, 2, 4, 8 or 16
  PngColor color = PngColor::kRGB;
  bool interlaced = false;
  bool transparency = false;  // has a tRNS chunk
  int channels = 0;           // what channels = 0 decodes to: 1 to 4
};

struct PngOptions {
  int channels = 0;             // 0: as the file; 1 gray, 2 gray + alpha, 3 RGB, 4 RGB + alpha
  DType dtype = DType::kUInt8;  // or kUInt16
};

// Decoded pixels, rows of interleaved channels; they live in the decoder until its next open().
struct PngPixels {
  const uint8_t* data = nullptr;
  DType dtype = DType::kUInt8;
  int height = 0;
  int width = 0;
  int channels = 0;
  int64_t row_stride_bytes = 0;
};

// Decodes PNG files of every colour type, depth and interlacing with tf.io.decode_png's rules:
// 16 bits become 8 by dropping the low ones, 8 become 16 by repeating, gray from colour is libpng's
// ITU-601 sum, a palette's tRNS and tRNS colours become alpha where alpha is asked for.
// One difference: alpha added to an image of fewer than 8 bits is 255 here, tf writes 2^bits - 1.
//
// One per thread; memory is kept from file to file. Every critical chunk's CRC and the image data's
// Adler-32 are checked; what is wrong throws SampleError with the byte offset. Pixels are inflated,
// unfiltered and converted some rows at a time: beside the rows asked for, decoding takes about 2
// MB, an interlaced image once its own size as it is asked for.
class PngDecoder {
 public:
  static constexpr int64_t kMaxPixels = int64_t{1} << 28;

  PngDecoder();
  ~PngDecoder();
  PngDecoder(PngDecoder&&) noexcept;
  PngDecoder& operator=(PngDecoder&&) noexcept;

  // Reads all chunks; `bytes` and `origin` must stay until decode has returned.
  PngHeader open(std::span<const uint8_t> bytes, const Origin& origin);

  // Each row, top to bottom; valid during the call, and 256 bytes beyond its end may be read.
  // Damage may show after rows were given out. `row_fn` may throw.
  template <typename RowFn>
  void decode(const PngOptions& options, RowFn&& row_fn) {
    using Fn = std::remove_reference_t<RowFn>;
    decode_rows(
        options, [](void* fn, const uint8_t* row) { (*static_cast<Fn*>(fn))(row); },
        const_cast<void*>(static_cast<const void*>(std::addressof(row_fn))));
  }
  // All of them at once.
  PngPixels decode(const PngOptions& options);

 private:
  using RowFunction = void (*)(void* context, const uint8_t* row);
  void decode_rows(const PngOptions& options, RowFunction function, void* context);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

bool is_png(std::span<const uint8_t> bytes);

// 1 to 4 channels of uint8 or uint16.
std::vector<uint8_t> encode_png(const void* pixels, DType dtype, int height, int width,
                                int channels, int64_t row_stride_bytes, int level = 6);

}  // namespace headway
