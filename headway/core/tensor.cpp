#include "headway/core/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <vector>

namespace headway {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kSmall = 1024;

template <typename T>
std::string range_of(std::span<const T> values) {
  if (values.empty()) return "[]";
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return fmt::format("[{:.4g} .. {:.4g}]", double(*low), double(*high));
}

std::string shorten(std::string_view bytes) {
  constexpr size_t kShown = 48;
  const bool text = std::all_of(bytes.begin(), bytes.begin() + std::min(bytes.size(), kShown),
                                [](unsigned char c) { return c >= 32 && c < 127; });
  if (!text) return fmt::format("{} bytes", bytes.size());
  if (bytes.size() <= kShown) return fmt::format("\"{}\"", bytes);
  return fmt::format("\"{}...\" ({} bytes)", bytes.substr(0, kShown), bytes.size());
}

}  // namespace

std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::kUInt8: return "uint8";
    case DType::kUInt16: return "uint16";
    case DType::kInt32: return "int32";
    case DType::kInt64: return "int64";
    case DType::kFloat32: return "float32";
    case DType::kFloat64: return "float64";
    case DType::kBool: return "bool";
    case DType::kString: return "string";
  }
  return "?";
}

int64_t size_of(DType dtype) {
  switch (dtype) {
    case DType::kUInt8:
    case DType::kBool: return 1;
    case DType::kUInt16: return 2;
    case DType::kInt32:
    case DType::kFloat32: return 4;
    case DType::kInt64:
    case DType::kFloat64: return 8;
    case DType::kString: return sizeof(std::string_view);
  }
  return 0;
}

Shape::Shape(std::span<const int64_t> dims) : rank_(static_cast<int>(dims.size())) {
  if (dims.size() > kMaxRank) {
    throw Error(fmt::format("a tensor has {} dimensions, but at most {} are supported", dims.size(),
                            kMaxRank),
                "flatten some dimensions first");
  }
  std::copy(dims.begin(), dims.end(), dims_.begin());
}

int64_t Shape::count() const {
  int64_t n = 1;
  for (int64_t d : *this) n *= d;
  return n;
}

Shape Shape::with_outer(int64_t n) const {
  std::array<int64_t, kMaxRank + 1> dims{n};
  std::copy(begin(), end(), dims.begin() + 1);
  return Shape(std::span<const int64_t>(dims.data(), rank_ + 1));
}

Shape Shape::without_outer() const {
  return Shape(std::span<const int64_t>(dims_.data() + 1, rank_ - 1));
}

std::string Shape::str() const {
  return rank_ == 0 ? "scalar" : fmt::format("{}", fmt::join(begin(), end(), "x"));
}

Storage* Storage::allocate(size_t size_bytes) {
  if (size_bytes < kSmall) {  // one allocation for both
    static_assert(sizeof(Storage) % 16 == 0);
    void* raw = ::operator new(sizeof(Storage) + size_bytes);
    auto* storage = new (raw) Storage;
    storage->memory_ = Memory::kBehindThis;
    storage->size_bytes_ = size_bytes;
    storage->data_ = static_cast<char*>(raw) + sizeof(Storage);
    return storage;
  }
  auto* storage = new Storage;
  storage->memory_ = Memory::kOwn;
  storage->size_bytes_ = size_bytes;
  storage->data_ = ::operator new(size_bytes, std::align_val_t(kAlignment));
  return storage;
}

Storage* Storage::adopt(void* data, size_t size_bytes, Release release) {
  auto* storage = new Storage;
  storage->data_ = data;
  storage->size_bytes_ = size_bytes;
  storage->release_ = std::move(release);
  return storage;
}

void Storage::destroy() {
  if (memory_ == Memory::kOwn) ::operator delete(data_, std::align_val_t(kAlignment));
  if (release_) release_(data_, size_bytes_);
  this->~Storage();
  ::operator delete(static_cast<void*>(this));
}

Tensor Tensor::empty(DType dtype, const Shape& shape) {
  if (shape.rank() == 0) {
    Tensor tensor;
    tensor.dtype_ = dtype;
    return tensor;
  }
  Storage* storage = Storage::allocate(shape.count() * size_of(dtype));
  if (dtype == DType::kString) std::memset(storage->data(), 0, storage->size_bytes());
  Tensor tensor = view(dtype, shape, storage->data(), storage);
  storage->drop();  // the view holds its own reference
  return tensor;
}

void Tensor::own_values() {
  if (!storage_ || dtype_ == DType::kString || !storage_->is_shared()) return;
  Tensor copy = empty(dtype_, shape());
  std::memcpy(copy.data(), data(), static_cast<size_t>(size_bytes()));
  *this = std::move(copy);
}

Tensor Tensor::string(std::string_view bytes) {
  Storage* storage = Storage::allocate(bytes.size());
  if (!bytes.empty()) std::memcpy(storage->data(), bytes.data(), bytes.size());
  Tensor tensor = string_view_of({static_cast<char*>(storage->data()), bytes.size()}, storage);
  storage->drop();
  return tensor;
}

Tensor Tensor::strings(std::span<const std::string> values) {
  size_t total = values.size() * sizeof(std::string_view);
  for (const std::string& s : values) total += s.size();
  Storage* storage = Storage::allocate(total);
  auto* views = static_cast<std::string_view*>(storage->data());
  char* at = reinterpret_cast<char*>(views + values.size());
  for (const std::string& s : values) {
    if (!s.empty()) std::memcpy(at, s.data(), s.size());
    new (views++) std::string_view(at, s.size());
    at += s.size();
  }
  Tensor tensor =
      view(DType::kString, {static_cast<int64_t>(values.size())}, storage->data(), storage);
  storage->drop();
  return tensor;
}

Tensor Tensor::view(DType dtype, const Shape& shape, void* data, Storage* owner) {
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.rank_ = static_cast<uint8_t>(shape.rank());
  std::copy(shape.begin(), shape.end(), tensor.inline_.begin());
  tensor.data_ = data;
  tensor.storage_ = owner;
  if (owner) owner->retain();
  return tensor;
}

Tensor Tensor::string_view_of(std::string_view bytes, Storage* owner) {
  Tensor tensor;
  tensor.dtype_ = DType::kString;
  new (tensor.inline_.data()) std::string_view(bytes);
  tensor.storage_ = owner;
  if (owner) owner->retain();
  return tensor;
}

int64_t Tensor::count() const {
  int64_t n = 1;
  for (int i = 0; i < rank_; ++i) n *= dims()[i];
  return n;
}

int64_t Tensor::size_bytes() const {
  int64_t total = count() * size_of(dtype_);
  if (dtype_ != DType::kString) return total;
  for (std::string_view s : values<std::string_view>()) total += s.size();
  return total;
}

Tensor Tensor::row(int64_t i) const {
  const Shape inner = shape().without_outer();
  auto* base = static_cast<char*>(const_cast<void*>(data()));
  return view(dtype_, inner, base + i * inner.count() * size_of(dtype_), storage_);
}

Tensor Tensor::reshaped(const Shape& shape) const {
  if (shape.count() != count()) {
    throw Error(fmt::format("reshape: {} values of shape {} cannot be reshaped to {}", count(),
                            this->shape().str(), shape.str()),
                "give a shape with the same number of values");
  }
  if (data_) return view(dtype_, shape, data_, storage_);
  if (shape.rank() == 0) return *this;
  Tensor out = empty(dtype_, shape);  // a scalar held in place has no memory to share
  std::memcpy(out.data(), data(), size_of(dtype_));
  if (dtype_ == DType::kString) return strings(std::array{std::string(bytes())}).reshaped(shape);
  return out;
}

Tensor Tensor::compact() const {
  if (!storage_ || static_cast<int64_t>(storage_->size_bytes()) <= 2 * size_bytes() + 256)
    return *this;
  if (dtype_ == DType::kString) {
    if (rank_ == 0) return string(bytes());
    const auto all = values<std::string_view>();
    return strings(std::vector<std::string>(all.begin(), all.end())).reshaped(shape());
  }
  Tensor copy = empty(dtype_, shape());
  std::memcpy(copy.data(), data(), count() * size_of(dtype_));
  return copy;
}

std::string Tensor::str() const {
  const std::string head = fmt::format("{} {}", name_of(dtype_), shape().str());
  if (rank_ == 0) {
    switch (dtype_) {
      case DType::kString: return shorten(bytes());
      case DType::kFloat32: return fmt::format("{}", item<float>());
      case DType::kFloat64: return fmt::format("{}", item<double>());
      case DType::kInt64: return fmt::format("{}", item<int64_t>());
      case DType::kInt32: return fmt::format("{}", item<int32_t>());
      case DType::kUInt16: return fmt::format("{}", item<uint16_t>());
      case DType::kUInt8: return fmt::format("{}", item<uint8_t>());
      case DType::kBool: return item<bool>() ? "true" : "false";
    }
  }
  switch (dtype_) {
    case DType::kString:
      return count() == 0 ? head : head + " " + shorten(values<std::string_view>()[0]) + " ...";
    case DType::kFloat32: return head + " " + range_of(values<float>());
    case DType::kFloat64: return head + " " + range_of(values<double>());
    case DType::kInt64: return head + " " + range_of(values<int64_t>());
    case DType::kInt32: return head + " " + range_of(values<int32_t>());
    case DType::kUInt16: return head + " " + range_of(values<uint16_t>());
    case DType::kUInt8: return head + " " + range_of(values<uint8_t>());
    case DType::kBool: return head + " " + range_of(values<bool>());
  }
  return head;
}

bool Tensor::same(const Tensor& other) const {
  if (dtype_ != other.dtype_ || !(shape() == other.shape())) return false;
  if (dtype_ != DType::kString) {
    return count() == 0 || std::memcmp(data(), other.data(), count() * size_of(dtype_)) == 0;
  }
  const auto a = values<std::string_view>();
  const auto b = other.values<std::string_view>();
  return std::equal(a.begin(), a.end(), b.begin());
}

void Tensor::wrong_type(DType wanted) const {
  throw Error(
      fmt::format("a tensor of type {} was read as {}", name_of(dtype_), name_of(wanted)),
      fmt::format("read it as {}, or convert it to {} first", name_of(dtype_), name_of(wanted)));
}

}  // namespace headway
