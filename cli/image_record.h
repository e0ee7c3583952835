#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "headway/core/element.h"
#include "headway/data/dataset.h"

namespace headway::cli {

// A labelled image as tf.Examples hold it, under the customary keys: image/encoded,
// image/class/label, image/class/text, image/height, image/width, image/format, image/filename.
struct ImageRecord {
  std::string_view encoded;
  std::string_view format;  // "JPEG" or "PNG"
  int64_t height = 0;
  int64_t width = 0;
  int64_t label = 0;
  std::string_view class_name;
  std::string_view filename;  // below its class's folder
};

std::string serialize(const ImageRecord& image);

// The same from a serialized tf.Example: only image/encoded must be there. Views into `bytes`.
// Throws SampleError with `origin`.
ImageRecord parse_image_record(std::string_view bytes, const Origin& origin);

}  // namespace headway::cli
