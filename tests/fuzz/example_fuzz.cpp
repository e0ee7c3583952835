// Any bytes as a tf.Example: an Example or an error, and what was read can be written and read
// again.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "headway/io/records/example.h"

using namespace headway;

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

std::string write(const std::vector<Feature>& features) {
  ExampleWriter writer;
  for (const Feature& feature : features) {
    if (!feature.dtype) continue;
    switch (*feature.dtype) {
      case DType::kString:
        writer.bytes(feature.name, feature.values.values<std::string_view>());
        break;
      case DType::kInt64: writer.int64(feature.name, feature.values.values<int64_t>()); break;
      default: writer.float32(feature.name, feature.values.values<float>());
    }
  }
  return std::string(writer.finish());
}

void check_round_trip(std::string_view bytes) {
  std::vector<Feature> features = parse_all(bytes, nullptr);
  std::erase_if(features, [](const Feature& feature) { return !feature.dtype; });
  const std::string written = write(features);
  const std::vector<Feature> again = parse_all(written, nullptr);
  require(again.size() == features.size());
  for (size_t i = 0; i < again.size(); ++i) {
    require(again[i].name == features[i].name && again[i].values.same(features[i].values));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ExampleParser wanting({fixed_len("i", DType::kInt64),
                                      fixed_len("f", DType::kFloat32, {2}),
                                      fixed_len("b", DType::kString)});
  static const ExampleParser lenient(
      {var_len("i", DType::kInt64), var_len("f", DType::kFloat32), var_len("b", DType::kString),
       fixed_len("d", DType::kInt64, {3}, Tensor::scalar<int64_t>(0))});
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::vector<Tensor> out;
  for (const ExampleParser* parser : {&wanting, &lenient}) {
    try {
      parser->parse(bytes, nullptr, out);
    } catch (const SampleError& e) {
      require(!e.reason().empty());
    }
  }
  try {
    check_round_trip(bytes);
  } catch (const SampleError&) {
  }
  return 0;
}
