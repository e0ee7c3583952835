#include "cli/transcode.h"

#include <algorithm>

#include "headway/data/image_chain.h"
#include "headway/image/resize.h"
#include "headway/io/jpeg.h"
#include "headway/io/png.h"

namespace headway::cli {
namespace {

using Bytes = std::span<const uint8_t>;

Tensor decode(Bytes bytes, const Origin& origin, const DecodeStep& step) {
  thread_local ImageScratch scratch;
  Tensor pixels;
  ImageChain({step}).run_encoded(bytes, origin, Random(0, 0, 0, 0), scratch,
                                 [&](DType dtype, const Shape& shape) {
                                   pixels = Tensor::empty(dtype, shape);
                                   return pixels.data();
                                 });
  return pixels;
}

// Width and height without the pixels.
void read_size(Bytes bytes, const Origin& origin, EncodedImage& image) {
  if (image.format == ImageFormat::kJpeg) {
    thread_local JpegDecoder decoder;
    const JpegHeader header = decoder.read_header(bytes, origin);
    image.height = header.height, image.width = header.width;
  } else {
    thread_local PngDecoder decoder;
    const PngHeader header = decoder.open(bytes, origin);
    image.height = header.height, image.width = header.width;
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
    read_size(bytes, origin, image);
    if (how.verify) decode(bytes, origin, {.channels = 0});
    return image;
  }
  Tensor pixels = decode(bytes, origin, {.channels = 0, .exif = true});
  const bool alpha = pixels.dim(2) == 2 || pixels.dim(2) == 4;
  if (alpha && wanted == ImageFormat::kJpeg)
    pixels = decode(bytes, origin, {.channels = 3, .exif = true});
  if (how.resize) pixels = resized(pixels, *how.resize);
  return encoded(pixels, wanted, how.quality);
}

std::string_view name_of(ImageFormat format) {
  return format == ImageFormat::kPng ? "PNG" : "JPEG";
}
std::string_view extension_of(ImageFormat format) {
  return format == ImageFormat::kPng ? ".png" : ".jpg";
}

}  // namespace headway::cli
