#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "headway/core/error.h"
#include "headway/core/tensor.h"
#include "headway/data/pixel_room.h"
#include "headway/image/affine.h"
#include "headway/image/resize.h"
#include "headway/image/view.h"
#include "headway/io/images/jpeg.h"
#include "headway/io/images/png.h"

namespace headway {

// What a LazyImage works with; reused from image to image, one per thread.
struct ImageTools {
  JpegDecoder jpeg;
  PngDecoder png;
  Resizer resizer;
  std::array<ImageBuffer, 2> buffers;
};

// An image whose pixels do not exist yet. Steps are noted down; one pass makes the pixels when they
// are needed: for a step that must see them all, or for the result. That pass decodes, crops,
// resizes, flips, scales and lays out at once:
//
//   result = flip(scale * resize(crop(source)) + bias)
//
// Steps that keep this form are free; the others make the pixels and start anew from there.
class LazyImage {
 public:
  // `origin` must outlive the image; so must the bytes or pixels it starts from.
  LazyImage(ImageTools& tools, const Origin& origin, PixelRoom* room)
      : tools_(tools), origin_(origin), room_(room) {}

  void start_encoded(std::span<const uint8_t> bytes, const JpegOptions& jpeg, const PngOptions& png,
                     bool upright);
  void start_pixels(const ImageView& pixels);

  int height() const { return resized_ ? window_.height : crop_.height; }
  int width() const { return resized_ ? window_.width : crop_.width; }
  int channels() const { return channels_; }
  DType dtype() const { return dtype_; }
  const Origin& origin() const { return origin_; }

  // REQUIRES: rect lies inside the image.
  void crop(const Rect& rect);
  void resize(int height, int width, Filter filter, bool antialias);
  void flip_lr();
  void flip_ud();
  void convert(DType dtype);
  // value * scale[c] + bias[c], float32
  void scale_bias(std::span<const float> scale, std::span<const float> bias);
  void affine(const AffineMatrix& matrix, FillMode fill, float fill_value);
  void grayscale(int channels);
  void standardize();

  // The pixels so far, to be changed in place.
  ImageSpan pixels();
  // Makes the pixels now, although nobody needs them.
  void settle();

  // The pass: writes the image. REQUIRES: `data` has room for it.
  void make_pixels(void* data, Layout layout);

 private:
  bool untouched() const;
  bool flipped() const { return flip_lr_ || flip_ud_; }
  void begin(const ImageView& pixels, bool own);
  ImageSpan other_buffer(DType dtype, int height, int width, int channels);
  bool copy_straight(void* data);
  ResizeGeometry geometry() const;
  int pick_denominator() const;
  void decode_jpeg_through(ResizeGeometry geometry, const Output& output);
  void decode_png_through(const ResizeGeometry& geometry, const Output& output);
  template <typename RowFn>
  void png_rows(const Rect& part, RowFn&& row_fn);

  ImageTools& tools_;
  const Origin& origin_;
  PixelRoom* const room_;  // may be null

  enum class Encoded { kNot, kJpeg, kPng };
  Encoded encoded_ = Encoded::kNot;  // else pixels are still in that decoder
  JpegOptions jpeg_;
  PngOptions png_;
  ImageView source_;  // otherwise here
  bool own_ = false;  // source_ lies in buffers[current_]
  int current_ = 0;
  std::array<int64_t, 2> taken_bytes_{};  // of the room, for tools_.buffers

  DType source_dtype_ = DType::kUInt8;
  DType dtype_ = DType::kUInt8;
  int channels_ = 0;
  int source_width_ = 0;
  int source_height_ = 0;
  Rect crop_;
  bool resized_ = false;
  int resized_width_ = 0;
  int resized_height_ = 0;
  Filter filter_ = Filter::kBilinear;
  bool antialias_ = false;
  Rect window_;
  bool flip_lr_ = false;
  bool flip_ud_ = false;
  bool scaled_ = false;
  std::array<float, 4> scale_{1, 1, 1, 1};
  std::array<float, 4> bias_{0, 0, 0, 0};
};

}  // namespace headway
