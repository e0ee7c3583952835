#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "headway/core/error.h"
#include "headway/io/images/decode_mode.h"

namespace headway {

enum class JpegColor { kGray, kYCbCr, kRGB, kCMYK, kYCCK, kOther };

struct JpegHeader {
  int width = 0;
  int height = 0;
  int channels = 0;  // 1, 3 or 4
  JpegColor color = JpegColor::kOther;
  int orientation = 1;    // EXIF, 1 (upright) to 8
  bool in_scans = false;  // progressive or the like: decoding holds all its coefficients at once
};

struct JpegOptions {
  int channels = 0;  // 0: 1 for gray files, 3 for all others; 1; 3
  DecodeMode mode = DecodeMode::kExact;
  // 1, 2, 4 or 8: decode to this fraction of the size (rounded up), by a smaller inverse DCT.
  int scale_denominator = 1;
  // Only these pixels, in coordinates of the scaled image; empty: all of them.
  struct Window {
    int x = 0, y = 0, width = 0, height = 0;
  };
  std::optional<Window> window = std::nullopt;
  // Accept files that end early or are damaged inside, as far as pixels come out (grey where not).
  bool allow_damage = false;
  // Leave all of it to libjpeg-turbo: to compare with.
  bool plain = false;
};

// Decodes JPEG files with libjpeg-turbo. One per thread; memory is kept from file to file, and
// nothing else: a file decodes to the same whatever was decoded before it.
//
// kExact gives the pixels of tf.io.decode_jpeg(dct_method="INTEGER_ACCURATE") and of Pillow, bit by
// bit: accurate inverse DCT, smooth chroma upsampling. (tf's default is the less accurate
// transform, up to 8 levels away.) A window has the same pixels as decoding all and cropping. kFast
// repeats chroma instead of smoothing it.
//
// Damage throws SampleError unless allowed; damage below the last row that is needed goes unseen.
// Sizes above kMaxPixels are refused before any memory is taken.
class JpegDecoder {
 public:
  static constexpr int64_t kMaxPixels = int64_t{1} << 28;

  JpegDecoder();
  ~JpegDecoder();
  JpegDecoder(JpegDecoder&&) noexcept;
  JpegDecoder& operator=(JpegDecoder&&) noexcept;

  JpegHeader read_header(std::span<const uint8_t> bytes, const Origin& origin);

  // Two steps, so that the window can be chosen after the size is known.
  //   const JpegHeader header = decoder.open(bytes, origin);
  //   decoder.decode(options, [&](const uint8_t* row) { ... });
  // `bytes` and `origin` must stay until decode has returned.
  JpegHeader open(std::span<const uint8_t> bytes, const Origin& origin);

  // Each row of the window, top to bottom; valid during the call, and 256 bytes beyond its end may
  // be read. `row_fn` may throw.
  template <typename RowFn>
  void decode(const JpegOptions& options, RowFn&& row_fn) {
    using Fn = std::remove_reference_t<RowFn>;
    decode_rows(
        options, [](void* fn, const uint8_t* row) { (*static_cast<Fn*>(fn))(row); },
        const_cast<void*>(static_cast<const void*>(std::addressof(row_fn))));
  }
  // Into memory of `stride_bytes` per row.
  void decode_into(const JpegOptions& options, uint8_t* data, int64_t stride_bytes);

 private:
  using RowFunction = void (*)(void* context, const uint8_t* row);
  void decode_rows(const JpegOptions& options, RowFunction function, void* context);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Baseline JPEG of `height` rows of `width` pixels with 1 or 3 interleaved channels.
struct JpegEncoding {
  int quality = 95;
  bool progressive = false;
  // Chroma subsampling: how many luma samples per chroma sample.
  int horizontal = 2;
  int vertical = 2;
  int restart_interval = 0;  // MCUs between restart markers; 0: without
};
std::vector<uint8_t> encode_jpeg(const uint8_t* pixels, int height, int width, int channels,
                                 int64_t stride_bytes, const JpegEncoding& encoding = {});

bool is_jpeg(std::span<const uint8_t> bytes);

}  // namespace headway
