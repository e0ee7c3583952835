#include "headway/io/records/example.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <protozero/pbf_reader.hpp>

#include "headway/io/records/example_wire.h"

namespace headway {
namespace {

using namespace example_wire;

std::string_view kind_name(uint32_t kind) {
  return kind == kBytesList   ? "string"
         : kind == kFloatList ? "float32"
         : kind == kInt64List ? "int64"
                              : "nothing";
}

uint32_t kind_of(DType dtype) {
  return dtype == DType::kString ? kBytesList : dtype == DType::kFloat32 ? kFloatList : kInt64List;
}

DType dtype_of(uint32_t kind) {
  return kind == kBytesList ? DType::kString : kind == kFloatList ? DType::kFloat32 : DType::kInt64;
}

[[noreturn]] void malformed(const protozero::exception& e) {
  throw SampleError({}, fmt::format("the record is not a valid tf.Example ({})", e.what()),
                    "check that the file holds serialized tf.train.Example records");
}

[[noreturn]] void missing(const FeatureSpec& spec, std::string_view example) {
  std::map<std::string_view, uint32_t> present;
  each_feature(example, [&](std::string_view name, std::string_view feature) {
    present[name] = choose(feature).kind;
  });
  std::string names;
  for (const auto& [name, kind] : present) {
    constexpr size_t kEnough = 400;
    if (names.size() > kEnough) {
      names += ", ...";
      break;
    }
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", name, kind_name(kind));
  }
  throw SampleError({},
                    fmt::format("the tf.Example has no feature \"{}\"; it has {}", spec.name,
                                names.empty() ? "none" : names),
                    "correct the name in parse_example, or give the feature a default value: "
                    "fixed_len(name, type, shape, value)");
}

[[noreturn]] void wrong_kind(const FeatureSpec& spec, uint32_t kind) {
  throw SampleError({},
                    fmt::format("the tf.Example's feature \"{}\" holds {}, but is to be read as {}",
                                spec.name, kind_name(kind), name_of(spec.dtype)),
                    fmt::format("read it as {}, or write the file with this feature as {}",
                                kind_name(kind), name_of(spec.dtype)));
}

[[noreturn]] void wrong_count(const FeatureSpec& spec, int64_t count) {
  throw SampleError(
      {},
      fmt::format("the tf.Example's feature \"{}\" has {} values, but the given shape {} needs {}",
                  spec.name, count, spec.shape.str(), spec.shape.count()),
      "correct the shape in fixed_len(...), or use var_len(...), which takes any number of values");
}

// A tensor of string_views whose bytes `owner` keeps alive.
Tensor views_of(const Shape& shape, Storage* owner) {
  const int64_t n = shape.count();
  auto* views = new std::string_view[static_cast<size_t>(n)];
  if (owner) owner->retain();
  Storage* storage =
      Storage::adopt(views, static_cast<size_t>(n) * sizeof *views, [owner](void* data, size_t) {
        delete[] static_cast<std::string_view*>(data);
        if (owner) owner->drop();
      });
  Tensor tensor = Tensor::view(DType::kString, shape, views, storage);
  storage->drop();
  return tensor;
}

// Stores the first `room` values and returns how many there are.
template <typename T>
int64_t store(const Lists& lists, T* into, int64_t room) {
  int64_t n = 0;
  each_value<T>(lists, [&](T value) {
    if (n < room) into[n] = value;
    ++n;
  });
  return n;
}

template <typename T>
Tensor values_as(const Lists& lists, const Shape& shape, Storage* owner, int64_t& count) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    if (shape.rank() == 0) {
      std::string_view value;
      count = store(lists, &value, 1);
      return Tensor::string_view_of(value, owner);
    }
    Tensor tensor = views_of(shape, owner);
    count = store(lists, static_cast<T*>(tensor.data()), shape.count());
    return tensor;
  } else {
    Tensor tensor = Tensor::empty(Tensor::dtype_of<T>(), shape);
    count = store(lists, static_cast<T*>(tensor.data()), shape.count());
    return tensor;
  }
}

Tensor values_of(const Lists& lists, const Shape& shape, Storage* owner, int64_t& count) {
  switch (lists.kind) {
    case kBytesList: return values_as<std::string_view>(lists, shape, owner, count);
    case kFloatList: return values_as<float>(lists, shape, owner, count);
    default: return values_as<int64_t>(lists, shape, owner, count);
  }
}

Tensor ragged_values(const Lists& lists, Storage* owner) {
  int64_t count = 0;
  return values_of(lists, {count_values(lists)}, owner, count);
}

Tensor read_feature(const FeatureSpec& spec, const Lists& lists, Storage* owner) {
  if (lists.kind != kind_of(spec.dtype)) wrong_kind(spec, lists.kind);
  if (spec.ragged) return ragged_values(lists, owner);
  int64_t count = 0;
  Tensor tensor = values_of(lists, spec.shape, owner, count);
  if (count != spec.shape.count()) wrong_count(spec, count);
  return tensor;
}

// The default in the feature's shape; one value stands for all.
Tensor spread_default(const FeatureSpec& spec) {
  const Tensor& given = *spec.default_value;
  const int64_t n = spec.shape.count();
  if (given.dtype() != spec.dtype || (given.count() != n && given.count() != 1)) {
    throw Error(fmt::format("feature \"{}\": the default value is {} of shape {}, but the feature "
                            "is {} of shape {}",
                            spec.name, name_of(given.dtype()), given.shape().str(),
                            name_of(spec.dtype), spec.shape.str()),
                "give one default value, or as many as the shape holds, of the feature's type");
  }
  if (given.count() == n) return given.reshaped(spec.shape);
  if (spec.dtype == DType::kString) {
    return Tensor::strings(std::vector<std::string>(n, std::string(given.bytes())))
        .reshaped(spec.shape);
  }
  Tensor tensor = Tensor::empty(spec.dtype, spec.shape);
  const int64_t size = size_of(spec.dtype);
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(static_cast<char*>(tensor.data()) + i * size, given.data(), size);
  }
  return tensor;
}

void check(const FeatureSpec& spec) {
  const DType d = spec.dtype;
  if (d != DType::kString && d != DType::kInt64 && d != DType::kFloat32) {
    throw Error(fmt::format("feature \"{}\" cannot be read as {}: a tf.Example holds only string, "
                            "int64 and float32",
                            spec.name, name_of(d)),
                "read it as one of these, then convert it with .map()");
  }
  for (int64_t dim : spec.shape) {
    if (dim >= 0) continue;
    throw Error(fmt::format("feature \"{}\": invalid size {} in the shape {}", spec.name, dim,
                            spec.shape.str()),
                "sizes must be 0 or more; use var_len if the number of values varies");
  }
}

constexpr uint32_t kFree = UINT32_MAX;

size_t hash_of(std::string_view name) {
  uint64_t tail = 0;  // names often differ at their end only
  const size_t n = std::min(name.size(), sizeof tail);
  if (n > 0) std::memcpy(&tail, name.data() + name.size() - n, n);
  return static_cast<size_t>((tail ^ name.size() << 56) * 0x9e3779b97f4a7c15u >> 32);
}

}  // namespace

FeatureSpec fixed_len(std::string name, DType dtype, Shape shape,
                      std::optional<Tensor> default_value) {
  return {.name = std::move(name),
          .dtype = dtype,
          .shape = shape,
          .default_value = std::move(default_value)};
}

FeatureSpec var_len(std::string name, DType dtype) {
  return {
      .name = std::move(name), .dtype = dtype, .shape = {}, .default_value = {}, .ragged = true};
}

ExampleParser::ExampleParser(std::vector<FeatureSpec> features) : features_(std::move(features)) {
  slots_.assign(std::bit_ceil(4 * features_.size() + 1), kFree);
  for (size_t i = 0; i < features_.size(); ++i) {
    FeatureSpec& spec = features_[i];
    check(spec);
    if (spec.default_value) spec.default_value = spread_default(spec);
    if (position_of(spec.name) < features_.size()) {
      throw Error(
          fmt::format("feature \"{}\" appears twice in the list of features to read", spec.name),
          "remove one of the two");
    }
    size_t slot = hash_of(spec.name);
    while (slots_[slot & (slots_.size() - 1)] != kFree) ++slot;
    slots_[slot & (slots_.size() - 1)] = static_cast<uint32_t>(i);
  }
}

size_t ExampleParser::position_of(std::string_view name) const {
  for (size_t slot = hash_of(name);; ++slot) {
    const uint32_t i = slots_[slot & (slots_.size() - 1)];
    if (i == kFree) return features_.size();
    if (features_[i].name == name) return i;
  }
}

void ExampleParser::find(std::string_view bytes, std::span<std::string_view> found) const {
  each_feature(bytes, [&](std::string_view name, std::string_view feature) {
    const size_t i = position_of(name);
    if (i < found.size()) found[i] = feature;
  });
}

void ExampleParser::parse(std::string_view bytes, Storage* owner, std::vector<Tensor>& out) const {
  constexpr size_t kUsual = 32;
  std::array<std::string_view, kUsual> few{};
  std::vector<std::string_view> many(features_.size() > kUsual ? features_.size() : 0);
  const std::span<std::string_view> found =
      many.empty() ? std::span(few).first(features_.size()) : std::span(many);
  out.resize(features_.size());
  try {
    find(bytes, found);
    for (size_t i = 0; i < features_.size(); ++i) {
      const FeatureSpec& spec = features_[i];
      const Lists lists = choose(found[i]);
      if (lists.kind != kNoList) {
        out[i] = read_feature(spec, lists, owner);
      } else if (spec.ragged) {
        out[i] = Tensor::empty(spec.dtype, {0});
      } else if (spec.default_value) {
        out[i] = *spec.default_value;
      } else {
        missing(spec, bytes);
      }
    }
  } catch (const protozero::exception& e) {
    malformed(e);
  }
}

std::vector<Feature> parse_all(std::string_view bytes, Storage* owner) {
  std::map<std::string_view, std::string_view> last;
  std::vector<Feature> features;
  try {
    each_feature(bytes,
                 [&](std::string_view name, std::string_view feature) { last[name] = feature; });
    for (const auto& [name, feature] : last) {
      const Lists lists = choose(feature);
      Feature& added = features.emplace_back();
      added.name = name;
      if (lists.kind == kNoList) continue;
      added.dtype = dtype_of(lists.kind);
      added.values = ragged_values(lists, owner);
    }
  } catch (const protozero::exception& e) {
    malformed(e);
  }
  return features;
}

}  // namespace headway
