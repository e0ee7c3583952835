#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <protozero/pbf_reader.hpp>
#include <protozero/varint.hpp>
#include <string_view>
#include <type_traits>

// tf.Example as it lies in bytes, over protozero, whose exceptions pass through:
//   Example  { Features features = 1; }
//   Features { map<string, Feature> feature = 1; }
//   Feature  { oneof { BytesList = 1; FloatList = 2; Int64List = 3; } }
//   *List    { repeated value = 1; }      numbers packed or not
namespace headway::example_wire {

constexpr uint32_t kNoList = 0;
constexpr uint32_t kBytesList = 1;
constexpr uint32_t kFloatList = 2;
constexpr uint32_t kInt64List = 3;

using protozero::pbf_reader;
using protozero::pbf_wire_type;

inline std::string_view view_in(pbf_reader& field) {
  const protozero::data_view view = field.get_view();
  return {view.data(), view.size()};
}

inline pbf_reader reader_of(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

inline bool is_delimited(const pbf_reader& field) {
  return field.wire_type() == pbf_wire_type::length_delimited;
}

// A Feature given twice within one entry is refused, as TensorFlow's parser does.
struct twice_exception : protozero::exception {
  const char* what() const noexcept override { return "a map entry holds two values"; }
};

// Calls on_feature(name, serialized Feature) for every entry, in file order.
template <typename OnFeature>
void each_feature(std::string_view example_bytes, OnFeature on_feature) {
  pbf_reader example = reader_of(example_bytes);
  while (example.next(1, pbf_wire_type::length_delimited)) {
    pbf_reader features = reader_of(view_in(example));
    while (features.next(1, pbf_wire_type::length_delimited)) {
      pbf_reader entry = reader_of(view_in(features));
      std::string_view name;
      std::string_view feature;
      while (entry.next()) {
        if (entry.tag() == 1 && is_delimited(entry)) {
          name = view_in(entry);
        } else if (entry.tag() == 2 && is_delimited(entry)) {
          if (!feature.empty()) throw twice_exception();
          feature = view_in(entry);
        } else {
          entry.skip();
        }
      }
      on_feature(name, feature);
    }
  }
}

// Which kind a Feature holds, and the fields that count: protobuf lets the last kind win, and
// joins several lists of one kind.
struct Lists {
  uint32_t kind = kNoList;
  std::string_view fields;
};

inline Lists choose(std::string_view feature) {
  Lists lists;
  pbf_reader field = reader_of(feature);
  for (size_t at = 0; field.next(); at = feature.size() - field.length()) {
    if (field.tag() <= kInt64List && is_delimited(field) && field.tag() != lists.kind) {
      lists = {field.tag(), feature.substr(at)};
    }
    field.skip();
  }
  return lists;
}

template <typename OnList>
void each_list(const Lists& lists, OnList on_list) {
  pbf_reader field = reader_of(lists.fields);
  while (field.next(lists.kind, pbf_wire_type::length_delimited)) on_list(view_in(field));
}

template <typename OnValue>
void each_packed(std::string_view packed, int64_t, OnValue on_value) {
  const char* at = packed.data();
  const char* end = at + packed.size();
  while (at != end) on_value(static_cast<int64_t>(protozero::decode_varint(&at, end)));
}

template <typename OnValue>
void each_packed(std::string_view packed, float value, OnValue on_value) {
  if (packed.size() % sizeof value != 0) throw protozero::invalid_length_exception();
  for (size_t i = 0; i < packed.size(); i += sizeof value) {
    std::memcpy(&value, packed.data() + i, sizeof value);
    on_value(value);
  }
}

// Calls on_value(T) for every value; T is std::string_view, float or int64_t and fits the kind.
template <typename T, typename OnValue>
void each_value(const Lists& lists, OnValue on_value) {
  each_list(lists, [&](std::string_view list) {
    pbf_reader field = reader_of(list);
    while (field.next()) {
      const bool value = field.tag() == 1;
      if constexpr (std::is_same_v<T, std::string_view>) {
        value&& is_delimited(field) ? on_value(view_in(field)) : field.skip();
      } else if (value && is_delimited(field)) {
        each_packed(view_in(field), T{}, on_value);
      } else if constexpr (std::is_same_v<T, float>) {
        value&& field.wire_type() == pbf_wire_type::fixed32 ? on_value(field.get_float())
                                                            : field.skip();
      } else {
        value&& field.wire_type() == pbf_wire_type::varint ? on_value(field.get_int64())
                                                           : field.skip();
      }
    }
  });
}

inline int64_t count_values(const Lists& lists) {
  int64_t n = 0;
  const auto count = [&](auto) { ++n; };
  switch (lists.kind) {
    case kBytesList: each_value<std::string_view>(lists, count); break;
    case kFloatList: each_value<float>(lists, count); break;
    default: each_value<int64_t>(lists, count);
  }
  return n;
}

}  // namespace headway::example_wire
