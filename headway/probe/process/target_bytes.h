#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace headway {

// Nothing that a watched process contains is trusted: it may change while it is read, or be false
// on purpose. Only these two types combine what it says about its own layout with the bytes that
// were read. A TargetField never reveals its offset: it can only become an address, which the
// kernel checks, or be looked up in bytes, which is checked here.

// The offset of a T in a structure of the target, from a table of ours or from the target itself.
// An offset larger than any structure counts as none.
template <typename T>
class TargetField {
 public:
  constexpr TargetField() = default;      // none
  constexpr TargetField(uint64_t offset)  // NOLINT: what goes in is checked
      : offset_(offset <= kFarthest ? offset : kNone) {}

  constexpr explicit operator bool() const { return offset_ != kNone; }
  // Its address in the structure at `base`; 0 if there is no such field.
  constexpr uint64_t in(uint64_t base) const { return *this ? base + offset_ : 0; }

 private:
  friend class TargetBytes;
  static constexpr uint64_t kFarthest = 1 << 20, kNone = ~uint64_t{0};
  uint64_t offset_ = kNone;
};

// A view of bytes that were copied from the target, or from a file that it names.
class TargetBytes {
 public:
  TargetBytes(const void* bytes, size_t size)
      : bytes_(static_cast<const char*>(bytes)), size_(size) {}

  // Nothing if the field is not within the bytes that were read.
  template <typename T>
  std::optional<T> get(TargetField<T> field) const {
    return field ? at<T>(field.offset_) : std::nullopt;
  }
  template <typename T>
  std::optional<T> at(uint64_t offset) const {
    if (offset > size_ || size_ - offset < sizeof(T)) return std::nullopt;
    T out;
    std::memcpy(&out, bytes_ + offset, sizeof out);
    return out;
  }
  size_t size() const { return size_; }

 private:
  const char* bytes_;
  size_t size_;
};

}  // namespace headway
