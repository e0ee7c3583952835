#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headway/core/tensor.h"

namespace headway {

// Builds a tf.Example: named lists of bytes, int64 or float.
//
//   ExampleWriter example;
//   example.bytes("image", jpeg).int64("label", 7);
//   writer.write(example.finish());
class ExampleWriter {
 public:
  ExampleWriter& bytes(std::string_view name, std::string_view value);
  ExampleWriter& bytes(std::string_view name, std::span<const std::string_view> values);
  ExampleWriter& int64(std::string_view name, int64_t value);
  ExampleWriter& int64(std::string_view name, std::span<const int64_t> values);
  ExampleWriter& float32(std::string_view name, float value);
  ExampleWriter& float32(std::string_view name, std::span<const float> values);

  // The serialized Example, valid until the next call here, which starts another one.
  std::string_view finish();

 private:
  template <typename AddValues>
  ExampleWriter& add(std::string_view name, uint32_t kind, size_t list_bytes, AddValues add_values);

  std::string buffer_;  // room for the Example's own header, then the features
  bool finished_ = true;
};

// What is wanted of one feature. Types are int64, float32 and string, as in tf.Example.
struct FeatureSpec {
  std::string name;
  DType dtype = DType::kString;
  Shape shape;                          // of a fixed feature
  std::optional<Tensor> default_value;  // where it is missing: of the shape, or one value for all
  bool ragged = false;                  // any number of values, as a tensor of rank 1
};

FeatureSpec fixed_len(std::string name, DType dtype, Shape shape = {},
                      std::optional<Tensor> default_value = {});
FeatureSpec var_len(std::string name, DType dtype);

// Parses serialized tf.Examples into one tensor for each FeatureSpec, in their order. A feature
// given twice counts the last time, as in protobuf; others than those wanted are passed over.
// Const calls are safe from any thread.
//
//   const ExampleParser parser({fixed_len("image", DType::kString), fixed_len("label",
//   DType::kInt64)}); parser.parse(record.bytes, record.block, tensors);
class ExampleParser {
 public:
  explicit ExampleParser(std::vector<FeatureSpec> features);

  // Strings are views into `bytes`, which `owner` keeps alive (null: they must outlive the
  // tensors). Malformed bytes, a missing feature, one of another kind or with another number of
  // values throw SampleError, whose origin is left for the caller to fill. Scalars cost no
  // allocation.
  void parse(std::string_view bytes, Storage* owner, std::vector<Tensor>& out) const;

  const std::vector<FeatureSpec>& features() const { return features_; }

 private:
  void find(std::string_view bytes, std::span<std::string_view> found) const;
  size_t position_of(std::string_view name) const;  // in features_; its size where there is none

  std::vector<FeatureSpec> features_;
  std::vector<uint32_t> slots_;  // hash table of positions in features_
};

// A feature as it lies in the file, for those who know nothing of it.
struct Feature {
  std::string name;
  std::optional<DType> dtype;  // none: the feature has no list
  Tensor values;               // rank 1; strings are views into the parsed bytes
};

// All features of a serialized tf.Example, sorted by name.
std::vector<Feature> parse_all(std::string_view bytes, Storage* owner);

}  // namespace headway
