#include "headway/data/lazy_image.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "headway/image/color.h"
#include "headway/image/normalize.h"
#include "headway/image/orient.h"
#include "headway/io/images/image_format.h"

namespace headway {

void LazyImage::begin(const ImageView& pixels, bool own) {
  encoded_ = Encoded::kNot;
  source_ = pixels;
  own_ = own;
  source_dtype_ = dtype_ = pixels.dtype;
  channels_ = pixels.channels;
  source_width_ = pixels.width;
  source_height_ = pixels.height;
  crop_ = {0, 0, pixels.width, pixels.height};
  resized_ = flip_lr_ = flip_ud_ = scaled_ = false;
  scale_.fill(1);
  bias_.fill(0);
}

void LazyImage::start_pixels(const ImageView& pixels) { begin(pixels, false); }

void LazyImage::start_encoded(std::span<const uint8_t> bytes, const JpegOptions& jpeg,
                              const PngOptions& png, bool upright) {
  const ImageFormat format = format_of(bytes);
  if (format == ImageFormat::kUnknown) throw_unknown_format(bytes, origin_);
  if (format == ImageFormat::kPng) {
    const PngHeader header = tools_.png.open(bytes, origin_);
    begin({.dtype = png.dtype,
           .height = header.height,
           .width = header.width,
           .channels = png.channels ? png.channels : header.channels},
          false);
    encoded_ = Encoded::kPng;
    png_ = png;
    if (room_ && header.interlaced) room_->take(header.height, header.width, channels_, dtype_);
    return;
  }
  const JpegHeader header = tools_.jpeg.open(bytes, origin_);
  const int channels = jpeg.channels ? jpeg.channels : std::min(header.channels, 3);
  begin({.dtype = DType::kUInt8,
         .height = header.height,
         .width = header.width,
         .channels = channels},
        false);
  encoded_ = Encoded::kJpeg;
  jpeg_ = jpeg;
  if (room_ && header.in_scans)  // of coefficients
    room_->take(header.height, header.width, header.channels, DType::kUInt16);
  if (upright && header.orientation != 1) {
    const bool sideways = turns_sideways(header.orientation);
    settle();
    const ImageView stored = source_;
    const ImageSpan turned = other_buffer(DType::kUInt8, sideways ? stored.width : stored.height,
                                          sideways ? stored.height : stored.width, channels);
    orient(stored, header.orientation, turned);
    begin(turned, true);
  }
  if (png.dtype == DType::kUInt16) convert(DType::kUInt16);
}

void LazyImage::crop(const Rect& rect) {
  const int x = flip_lr_ ? width() - rect.x - rect.width : rect.x;
  const int y = flip_ud_ ? height() - rect.y - rect.height : rect.y;
  Rect& part = resized_ ? window_ : crop_;
  part = {part.x + x, part.y + y, rect.width, rect.height};
}

void LazyImage::resize(int height, int width, Filter filter, bool antialias) {
  if (resized_ || flipped() || scaled_) settle();
  resized_ = true;
  resized_height_ = height;
  resized_width_ = width;
  filter_ = filter;
  antialias_ = antialias;
  window_ = {0, 0, width, height};
  if (filter != Filter::kNearest) dtype_ = DType::kFloat32;
}

void LazyImage::flip_lr() { flip_lr_ = !flip_lr_; }
void LazyImage::flip_ud() { flip_ud_ = !flip_ud_; }

void LazyImage::scale_bias(std::span<const float> scale, std::span<const float> bias) {
  for (int c = 0; c < channels_; ++c) {
    scale_[c] *= scale[c];
    bias_[c] = bias_[c] * scale[c] + bias[c];
  }
  scaled_ = true;
  dtype_ = DType::kFloat32;
}

void LazyImage::convert(DType dtype) {
  if (dtype == dtype_) return;
  if (dtype == DType::kFloat32) {
    std::array<float, 4> scale, bias{};
    scale.fill(1.0f / top_of(dtype_));
    return scale_bias(scale, bias);
  }
  settle();
  const ImageSpan target = other_buffer(dtype, source_.height, source_.width, channels_);
  headway::convert(source_, target);
  begin(target, true);
}

void LazyImage::affine(const AffineMatrix& matrix, FillMode fill, float fill_value) {
  settle();
  const ImageSpan target = other_buffer(dtype_, source_.height, source_.width, channels_);
  headway::affine(source_, matrix, fill, fill_value, target);
  begin(target, true);
}

void LazyImage::grayscale(int channels) {
  settle();
  const ImageSpan target = other_buffer(dtype_, source_.height, source_.width, channels);
  to_grayscale(source_, target);
  begin(target, true);
}

void LazyImage::standardize() {
  convert(DType::kFloat32);
  headway::standardize(pixels());
}

bool LazyImage::untouched() const {
  const Rect all{0, 0, source_width_, source_height_};
  return encoded_ == Encoded::kNot && !resized_ && !flipped() && !scaled_ && crop_ == all;
}

ImageSpan LazyImage::other_buffer(DType dtype, int height, int width, int channels) {
  current_ = 1 - current_;
  const int64_t bytes = int64_t{height} * width * channels * size_of(dtype);
  if (room_ && bytes > taken_bytes_[current_]) {
    room_->take(height, width, channels, dtype);
    taken_bytes_[current_] += bytes;
  }
  return tools_.buffers[current_].reshape(dtype, height, width, channels);
}

void LazyImage::settle() {
  if (untouched()) return;
  const ImageSpan target = other_buffer(dtype_, height(), width(), channels_);
  make_pixels(const_cast<void*>(target.data), Layout::kHWC);
  begin(target, true);
}

ImageSpan LazyImage::pixels() {
  settle();
  if (!own_) {
    const ImageSpan copy = other_buffer(dtype_, source_.height, source_.width, channels_);
    make_pixels(const_cast<void*>(copy.data), Layout::kHWC);
    begin(copy, true);
  }
  return {source_};
}

// All rows are decoded, for the checksum stands behind the last; `row_fn` gets those of `part`.
template <typename RowFn>
void LazyImage::png_rows(const Rect& part, RowFn&& row_fn) {
  const int64_t left = int64_t{part.x} * channels_ * size_of(source_dtype_);
  int y = 0;
  tools_.png.decode(png_, [&](const uint8_t* row) {
    if (y >= part.y && y < part.y + part.height) row_fn(row + left);
    ++y;
  });
}

// Bytes that only change place.
bool LazyImage::copy_straight(void* data) {
  if (resized_ || flipped() || scaled_) return false;
  const int64_t row_bytes = int64_t{crop_.width} * channels_ * size_of(dtype_);
  auto* to = static_cast<uint8_t*>(data);
  if (encoded_ == Encoded::kPng) {
    png_rows(crop_, [&](const uint8_t* row) {
      std::memcpy(to, row, size_t(row_bytes));
      to += row_bytes;
    });
    return true;
  }
  if (encoded_ == Encoded::kJpeg) {
    JpegOptions options = jpeg_;
    options.window = {crop_.x, crop_.y, crop_.width, crop_.height};
    tools_.jpeg.decode_into(options, to, row_bytes);
    return true;
  }
  const ImageView part = headway::crop(source_, crop_);
  for (int y = 0; y < part.height; ++y)
    std::memcpy(to + y * row_bytes, part.row(y), size_t(row_bytes));
  return true;
}

ResizeGeometry LazyImage::geometry() const {
  ResizeGeometry g{.source_width = crop_.width,
                   .source_height = crop_.height,
                   .width = crop_.width,
                   .height = crop_.height,
                   .filter = Filter::kNearest,
                   .window = {0, 0, crop_.width, crop_.height},
                   .flip_lr = flip_lr_,
                   .flip_ud = flip_ud_};
  if (!resized_) return g;
  g.width = resized_width_;
  g.height = resized_height_;
  g.filter = filter_;
  g.antialias = antialias_;
  g.window = window_;
  return g;
}

void LazyImage::make_pixels(void* data, Layout layout) {
  if ((layout == Layout::kHWC || channels_ == 1) && copy_straight(data)) return;
  const Output output{
      .data = data, .dtype = dtype_, .layout = layout, .scale = scale_, .bias = bias_};
  if (encoded_ == Encoded::kJpeg) return decode_jpeg_through(geometry(), output);
  if (encoded_ == Encoded::kPng) return decode_png_through(geometry(), output);
  tools_.resizer.resize(headway::crop(source_, crop_), geometry(), output);
}

// The largest inverse DCT reduction that leaves enough pixels: as many as the target has when the
// resize would smooth them away in any case. Without antialias it would not, and the reduced image
// lacks detail that the exact one shows (24 dB was seen at 2.3 times the target), so that only
// sources far too large are reduced.
int LazyImage::pick_denominator() const {
  if (jpeg_.mode != DecodeMode::kFast || !resized_ || filter_ == Filter::kNearest) return 1;
  const bool smooths = antialias_ || filter_ == Filter::kArea;
  for (int d : {8, 4, 2}) {
    const int64_t least = smooths ? d : 2 * d;
    if (crop_.width >= least * resized_width_ && crop_.height >= least * resized_height_) return d;
  }
  return 1;
}

void LazyImage::decode_jpeg_through(ResizeGeometry g, const Output& output) {
  JpegOptions options = jpeg_;
  const int d = options.scale_denominator = pick_denominator();
  int left = crop_.x, top = crop_.y;
  if (d > 1) {
    left /= d;
    top /= d;
    g.source_width = (crop_.x + crop_.width + d - 1) / d - left;
    g.source_height = (crop_.y + crop_.height + d - 1) / d - top;
    const float unit = 1.0f / float(d);
    g.stretch = {float(crop_.x) * unit - float(left), float(crop_.y) * unit - float(top),
                 float(crop_.width) * unit, float(crop_.height) * unit};
  }
  const Rect need = source_of(g);
  options.window = {left + need.x, top + need.y, need.width, need.height};
  tools_.resizer.start(g, DType::kUInt8, channels_, output);
  tools_.jpeg.decode(options, [this](const uint8_t* row) { tools_.resizer.push(row); });
}

void LazyImage::decode_png_through(const ResizeGeometry& g, const Output& output) {
  const Rect need = source_of(g);
  tools_.resizer.start(g, source_dtype_, channels_, output);
  png_rows({crop_.x + need.x, crop_.y + need.y, need.width, need.height},
           [this](const uint8_t* row) { tools_.resizer.push(row); });
}

}  // namespace headway
