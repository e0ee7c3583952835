#include "cli/transcode.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/memory_turn.h"
#include "headway/data/image_chain.h"
#include "headway/image/resize.h"
#include "headway/io/images/jpeg.h"
#include "headway/io/images/png.h"

namespace headway::cli {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr int64_t kMostKept = 64 << 20;  // after a larger image its thread starts anew
constexpr int kMaxJpegSide = 65500;      // libjpeg's

Tensor decode(Bytes bytes, const Origin& origin, const DecodeStep& step) {
  thread_local ImageScratch scratch;
  Tensor pixels;
  ImageChain({step}).run_encoded(bytes, origin, Random(0, 0, 0, 0), scratch,
                                 [&](DType dtype, const Shape& shape) {
                                   pixels = Tensor::empty(dtype, shape);
                                   return pixels.data();
                                 });
  if (pixels.size_bytes() > kMostKept) scratch = ImageScratch();
  return pixels;
}

// Width and height, and that every pixel can be decoded if `verify`; none is kept. Gives the number
// of channels.
int look_at(Bytes bytes, const Origin& origin, bool verify, EncodedImage& image) {
  const auto drop = [](const uint8_t*) {};
  if (image.format == ImageFormat::kJpeg) {
    thread_local JpegDecoder decoder;
    const JpegHeader header = decoder.open(bytes, origin);
    image.height = header.height, image.width = header.width;
    if (verify) {
      const int64_t coefficients = int64_t{header.height} * header.width * header.channels;
      const MemoryTurn turn(header.in_scans ? 2 * coefficients : 0, origin);
      decoder.decode({}, drop);
    }
    return std::min(header.channels, 3);
  } else {
    thread_local PngDecoder decoder;
    const PngHeader header = decoder.open(bytes, origin);
    image.height = header.height, image.width = header.width;
    if (verify) decoder.decode({}, drop);
    return header.channels;
  }
}

ImageView view_of(const Tensor& pixels) {
  return packed(pixels.data(), pixels.dtype(), static_cast<int>(pixels.dim(0)),
                static_cast<int>(pixels.dim(1)), static_cast<int>(pixels.dim(2)));
}

Extent extent_of(const ResizeSpec& spec, const ImageView& image) {
  if (spec.shorter == 0) return spec.extent;
  const int64_t shorter = std::min(image.height, image.width), size = spec.shorter;
  return {static_cast<int>(std::max<int64_t>(1, image.height * size / shorter)),
          static_cast<int>(std::max<int64_t>(1, image.width * size / shorter))};
}

Tensor resized(const Tensor& pixels, const ResizeSpec& spec) {
  thread_local Resizer resizer;
  const ImageView source = view_of(pixels);
  const Extent to = extent_of(spec, source);
  Tensor out = Tensor::empty(DType::kUInt8, {to.height, to.width, source.channels});
  resizer.resize(source,
                 {.source_width = source.width,
                  .source_height = source.height,
                  .width = to.width,
                  .height = to.height,
                  .antialias = true,
                  .window = {0, 0, to.width, to.height}},
                 {.data = out.data(), .dtype = DType::kUInt8});
  return out;
}

EncodedImage encoded(const Tensor& pixels, ImageFormat format, int quality) {
  const ImageView image = view_of(pixels);
  const std::vector<uint8_t> bytes =
      format == ImageFormat::kJpeg
          ? encode_jpeg(image.row(0), image.height, image.width, image.channels,
                        image.row_stride_bytes, {.quality = quality})
          : encode_png(image.data, image.dtype, image.height, image.width, image.channels,
                       image.row_stride_bytes);
  return {std::string(bytes.begin(), bytes.end()), format, image.height, image.width};
}

}  // namespace

EncodedImage transcode(std::string_view text, const Origin& origin, const Transcoding& how) {
  const Bytes bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  const ImageFormat format = format_of(bytes);
  if (format == ImageFormat::kUnknown) throw_unknown_format(bytes, origin);
  const ImageFormat wanted = how.format.value_or(format);
  if (!how.resize && wanted == format) {
    EncodedImage image{.bytes = std::string(text), .format = format};
    look_at(bytes, origin, how.verify, image);
    return image;
  }
  EncodedImage before;
  before.format = format;
  const int channels = look_at(bytes, origin, false, before);
  // In memory at once: the pixels (or a progressive JPEG's coefficients), another image of them
  // (turned, resized, filtered), and what is written.
  const MemoryTurn turn(int64_t{3} * 4 * before.height * before.width, origin);
  const bool drop_alpha = channels % 2 == 0 && wanted == ImageFormat::kJpeg;
  Tensor pixels = decode(bytes, origin, {.channels = drop_alpha ? 3 : 0, .exif = true});
  if (how.resize) pixels = resized(pixels, *how.resize);
  if (wanted == ImageFormat::kJpeg && std::max(pixels.dim(0), pixels.dim(1)) > kMaxJpegSide) {
    throw SampleError(
        origin,
        fmt::format("the image has {}x{} pixels, but a JPEG can have at most {} per side",
                    pixels.dim(0), pixels.dim(1), kMaxJpegSide),
        "make it smaller with --resize, or use --format png");
  }
  return encoded(pixels, wanted, how.quality);
}

std::string_view name_of(ImageFormat format) {
  return format == ImageFormat::kPng ? "PNG" : "JPEG";
}
std::string_view extension_of(ImageFormat format) {
  return format == ImageFormat::kPng ? ".png" : ".jpg";
}

}  // namespace headway::cli
