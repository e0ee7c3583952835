#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "headway/core/error.h"

namespace headway {

enum class DType : uint8_t { kUInt8, kUInt16, kInt32, kInt64, kFloat32, kFloat64, kBool, kString };

std::string_view name_of(DType dtype);  // "uint8", "float32", "string" ...
int64_t size_of(DType dtype);           // bytes of one value; of a string, its view

// Dimensions of a tensor, outermost first. At most kMaxRank of them, held in place.
class Shape {
 public:
  static constexpr int kMaxRank = 6;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const int64_t> dims);

  int rank() const { return rank_; }
  int64_t operator[](int axis) const { return dims_[axis]; }
  int64_t& operator[](int axis) { return dims_[axis]; }
  const int64_t* begin() const { return dims_.data(); }
  const int64_t* end() const { return dims_.data() + rank_; }
  int64_t count() const;              // product of the dimensions; 1 for a scalar
  Shape with_outer(int64_t n) const;  // (n, dims...)
  Shape without_outer() const;        // REQUIRES: rank() > 0
  std::string str() const;            // "3x224x224", "scalar"

  bool operator==(const Shape& other) const {
    return rank_ == other.rank_ &&
           std::memcmp(dims_.data(), other.dims_.data(), sizeof(int64_t) * rank_) == 0;
  }

 private:
  std::array<int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};

// Reference-counted owner of a tensor's bytes. Whoever drops the last reference calls `release`.
class Storage {
 public:
  using Release = std::function<void(void* data, size_t size_bytes)>;

  // Fresh memory, not cleared; 64-byte aligned from 1 KB on, 16-byte below.
  static Storage* allocate(size_t size_bytes);
  // Memory that somebody else made; `release` gives it back (may be empty).
  static Storage* adopt(void* data, size_t size_bytes, Release release);

  void* data() const { return data_; }
  size_t size_bytes() const { return size_bytes_; }
  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  bool is_shared() const { return references_.load(std::memory_order_acquire) > 1; }
  void drop() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }

 private:
  Storage() = default;
  ~Storage() = default;
  void destroy();

  std::atomic<int64_t> references_{1};
  void* data_ = nullptr;
  size_t size_bytes_ = 0;
  enum class Memory : uint8_t { kForeign, kOwn, kBehindThis } memory_ = Memory::kForeign;
  Release release_;
};

// An n-dimensional array: values in row-major order plus a reference to what owns them.
// Copies share the values. A scalar lives inside the object and costs no allocation.
//
// A string tensor's values are string_views; its storage owns the bytes they point to.
//
//   Tensor a = Tensor::empty(DType::kFloat32, {2, 3});
//   a.values<float>()[5] = 1;
//   Tensor b = Tensor::scalar<int64_t>(7);
class Tensor {
 public:
  Tensor() : dtype_(DType::kInt64) { inline_ = {}; }
  Tensor(const Tensor& other) : Tensor(other, Retain{}) {}
  Tensor(Tensor&& other) noexcept { steal(other); }
  Tensor& operator=(const Tensor& other);
  Tensor& operator=(Tensor&& other) noexcept;
  ~Tensor() {
    if (storage_) storage_->drop();
  }

  static Tensor empty(DType dtype, const Shape& shape);
  template <typename T>
  static Tensor scalar(T value);
  static Tensor string(std::string_view bytes);  // a scalar string, bytes copied
  static Tensor strings(std::span<const std::string> values);
  template <typename T>
  static Tensor vector(std::span<const T> values);  // rank 1, copied
  template <typename T>
  static Tensor vector(std::initializer_list<T> values) {
    return vector(std::span<const T>(values.begin(), values.size()));
  }

  // A view of `data` kept alive by `owner` (retained here; may be null for memory that outlives
  // us).
  static Tensor view(DType dtype, const Shape& shape, void* data, Storage* owner);
  // A scalar string whose bytes `owner` keeps alive.
  static Tensor string_view_of(std::string_view bytes, Storage* owner);

  DType dtype() const { return dtype_; }
  int rank() const { return rank_; }
  Shape shape() const { return Shape(std::span(dims(), rank_)); }
  int64_t dim(int axis) const { return dims()[axis]; }
  int64_t count() const;
  int64_t size_bytes() const;  // of the values; strings with their bytes

  void* data() { return data_ ? data_ : inline_.data(); }
  const void* data() const { return data_ ? data_ : inline_.data(); }
  Storage* storage() const { return storage_; }

  template <typename T>
  std::span<T> values() {
    check(dtype_of<T>());
    return {static_cast<T*>(data()), static_cast<size_t>(count())};
  }
  template <typename T>
  std::span<const T> values() const {
    check(dtype_of<T>());
    return {static_cast<const T*>(data()), static_cast<size_t>(count())};
  }
  template <typename T>
  T item() const {  // REQUIRES: count() == 1
    check(dtype_of<T>());
    return *static_cast<const T*>(data());
  }
  std::string_view bytes() const { return item<std::string_view>(); }

  // Row `i` of the outermost dimension, sharing the values. REQUIRES: rank() > 0.
  Tensor row(int64_t i) const;
  // The same values in another shape. REQUIRES: the counts agree.
  Tensor reshaped(const Shape& shape) const;

  // Copies the values if another tensor shares them, so that they may be written to. Texts stay
  // shared.
  void own_values();

  // This tensor, or a copy of it when it keeps alive much more memory than it needs (a record of 60
  // bytes in a block of 256 KB): for those who hold on to it.
  Tensor compact() const;

  std::string str() const;  // "float32 3x224x224 [-2.1 .. 2.6]" or the value of a scalar
  bool same(const Tensor& other) const;  // dtype, shape and every value, bit for bit

  template <typename T>
  static constexpr DType dtype_of();

 private:
  struct Retain {};
  Tensor(const Tensor& other, Retain);
  void steal(Tensor& other);
  void check(DType wanted) const {
    if (wanted != dtype_) wrong_type(wanted);
  }
  [[noreturn]] void wrong_type(DType wanted) const;
  const int64_t* dims() const { return inline_.data(); }

  // Dimensions, or the value itself when this is a scalar held in place (data_ == nullptr).
  std::array<int64_t, Shape::kMaxRank> inline_;
  void* data_ = nullptr;
  Storage* storage_ = nullptr;
  DType dtype_;
  uint8_t rank_ = 0;
};

// ---- the small print ----

template <typename T>
constexpr DType Tensor::dtype_of() {
  using V = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<V, uint8_t>) return DType::kUInt8;
  else if constexpr (std::is_same_v<V, uint16_t>) return DType::kUInt16;
  else if constexpr (std::is_same_v<V, int32_t>) return DType::kInt32;
  else if constexpr (std::is_same_v<V, bool>) return DType::kBool;
  else if constexpr (std::is_integral_v<V> && sizeof(V) == 8) return DType::kInt64;
  else if constexpr (std::is_same_v<V, float>) return DType::kFloat32;
  else if constexpr (std::is_same_v<V, double>) return DType::kFloat64;
  else if constexpr (std::is_same_v<V, std::string_view>) return DType::kString;
  else static_assert(!sizeof(V*), "no DType for this C++ type");
}

inline Tensor::Tensor(const Tensor& other, Retain)
    : inline_(other.inline_),
      data_(other.data_),
      storage_(other.storage_),
      dtype_(other.dtype_),
      rank_(other.rank_) {
  if (storage_) storage_->retain();
}

inline void Tensor::steal(Tensor& other) {
  inline_ = other.inline_;
  data_ = std::exchange(other.data_, nullptr);
  storage_ = std::exchange(other.storage_, nullptr);
  dtype_ = other.dtype_;
  rank_ = std::exchange(other.rank_, 0);
}

inline Tensor& Tensor::operator=(Tensor&& other) noexcept {
  if (this == &other) return *this;
  if (storage_) storage_->drop();
  steal(other);
  return *this;
}

inline Tensor& Tensor::operator=(const Tensor& other) { return *this = Tensor(other); }

template <typename T>
Tensor Tensor::scalar(T value) {
  static_assert(!std::is_same_v<T, std::string_view>, "use Tensor::string");
  Tensor tensor;
  tensor.dtype_ = dtype_of<T>();
  std::memcpy(tensor.inline_.data(), &value, sizeof(T));
  return tensor;
}

template <typename T>
Tensor Tensor::vector(std::span<const T> values) {
  Tensor tensor = empty(dtype_of<T>(), {static_cast<int64_t>(values.size())});
  if (!values.empty()) std::memcpy(tensor.data(), values.data(), values.size_bytes());
  return tensor;
}

}  // namespace headway
