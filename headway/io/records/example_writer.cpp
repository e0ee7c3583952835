#include <array>
#include <protozero/pbf_writer.hpp>

#include "headway/io/records/example.h"
#include "headway/io/records/example_wire.h"

namespace headway {
namespace {

using namespace example_wire;
using protozero::pbf_writer;

constexpr size_t kHeadroom = 11;  // a tag and the longest length

size_t field_bytes(size_t payload) {
  return 1 + static_cast<size_t>(protozero::length_of_varint(payload)) + payload;
}

}  // namespace

// Sizes are worked out first, so that nothing is moved once written.
template <typename AddValues>
ExampleWriter& ExampleWriter::add(std::string_view name, uint32_t kind, size_t list_bytes,
                                  AddValues add_values) {
  if (finished_) buffer_.assign(kHeadroom, '\0');
  finished_ = false;
  const size_t feature_bytes = field_bytes(list_bytes);
  pbf_writer features(buffer_);
  pbf_writer entry(features, 1, field_bytes(name.size()) + field_bytes(feature_bytes));
  entry.add_bytes(1, name.data(), name.size());
  pbf_writer feature(entry, 2, feature_bytes);
  if (list_bytes == 0) {
    feature.add_bytes(kind, "",
                      0);  // a nested writer would leave the list out, and its kind with it
  } else {
    pbf_writer list(feature, kind, list_bytes);
    add_values(list);
  }
  return *this;
}

ExampleWriter& ExampleWriter::bytes(std::string_view name, std::string_view value) {
  return bytes(name, std::span(&value, 1));
}

ExampleWriter& ExampleWriter::bytes(std::string_view name,
                                    std::span<const std::string_view> values) {
  size_t list_bytes = 0;
  for (std::string_view value : values) list_bytes += field_bytes(value.size());
  return add(name, kBytesList, list_bytes, [&](pbf_writer& list) {
    for (std::string_view value : values) list.add_bytes(1, value.data(), value.size());
  });
}

ExampleWriter& ExampleWriter::int64(std::string_view name, int64_t value) {
  return int64(name, std::span(&value, 1));
}

ExampleWriter& ExampleWriter::int64(std::string_view name, std::span<const int64_t> values) {
  size_t packed = 0;
  for (int64_t value : values) packed += protozero::length_of_varint(static_cast<uint64_t>(value));
  return add(name, kInt64List, values.empty() ? 0 : field_bytes(packed),
             [&](pbf_writer& list) { list.add_packed_int64(1, values.begin(), values.end()); });
}

ExampleWriter& ExampleWriter::float32(std::string_view name, float value) {
  return float32(name, std::span(&value, 1));
}

ExampleWriter& ExampleWriter::float32(std::string_view name, std::span<const float> values) {
  const size_t list_bytes = values.empty() ? 0 : field_bytes(values.size_bytes());
  return add(name, kFloatList, list_bytes, [&](pbf_writer& list) {
    list.add_packed_float(1, values.data(), values.data() + values.size());
  });
}

std::string_view ExampleWriter::finish() {
  if (finished_) buffer_.assign(kHeadroom, '\0');
  finished_ = true;
  std::array<char, kHeadroom> header;
  char* end = header.data();
  *end++ = 1 << 3 | 2;  // field 1, length-delimited
  end += protozero::write_varint(end, buffer_.size() - kHeadroom);
  const size_t n = static_cast<size_t>(end - header.data());
  std::memcpy(buffer_.data() + kHeadroom - n, header.data(), n);
  return std::string_view(buffer_).substr(kHeadroom - n);
}

}  // namespace headway
