#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/operators.h"
#include "headway/core/error.h"
#include "headway/io/images/image_format.h"

namespace headway::cli {

// How encoded images are rewritten. By default they are not: the bytes stay as they are.
struct Transcoding {
  std::optional<ResizeSpec> resize{};   // antialiased
  std::optional<ImageFormat> format{};  // other than the image's own
  int quality = 92;                     // of JPEG that is written anew
  bool verify = true;  // decode images that stay as they are, to see that they can be
};

struct EncodedImage {
  std::string bytes;
  ImageFormat format = ImageFormat::kUnknown;
  int height = 0;
  int width = 0;
};

// An image written anew is turned upright first, for its EXIF orientation does not survive.
// Throws SampleError with `origin` for what is no image or a damaged one. Safe from any thread.
EncodedImage transcode(std::string_view bytes, const Origin& origin, const Transcoding& how);

std::string_view name_of(ImageFormat format);       // "JPEG" or "PNG", as in tf.Examples
std::string_view extension_of(ImageFormat format);  // ".jpg" or ".png"

}  // namespace headway::cli
