#include "cli/image_record.h"

#include "headway/io/records/example.h"

namespace headway::cli {
namespace {

const ExampleParser& parser() {
  const auto or_empty = [](const char* name) {
    return fixed_len(name, DType::kString, {}, Tensor::string(""));
  };
  const auto or_minus_one = [](const char* name) {
    return fixed_len(name, DType::kInt64, {}, Tensor::scalar<int64_t>(-1));
  };
  static const ExampleParser parser({fixed_len("image/encoded", DType::kString),
                                     or_empty("image/format"), or_minus_one("image/height"),
                                     or_minus_one("image/width"), or_minus_one("image/class/label"),
                                     or_empty("image/class/text"), or_empty("image/filename")});
  return parser;
}

}  // namespace

std::string serialize(const ImageRecord& image) {
  thread_local ExampleWriter writer;
  writer.bytes("image/encoded", image.encoded)
      .bytes("image/format", image.format)
      .int64("image/height", image.height)
      .int64("image/width", image.width)
      .int64("image/class/label", image.label)
      .bytes("image/class/text", image.class_name)
      .bytes("image/filename", image.filename);
  return std::string(writer.finish());
}

ImageRecord parse_image_record(std::string_view bytes, const Origin& origin) {
  thread_local std::vector<Tensor> values;
  try {
    parser().parse(bytes, nullptr, values);
  } catch (const SampleError& e) {
    throw SampleError(origin, e.reason(), e.hint());
  }
  return {.encoded = values[0].bytes(),
          .format = values[1].bytes(),
          .height = values[2].item<int64_t>(),
          .width = values[3].item<int64_t>(),
          .label = values[4].item<int64_t>(),
          .class_name = values[5].bytes(),
          .filename = values[6].bytes()};
}

}  // namespace headway::cli
