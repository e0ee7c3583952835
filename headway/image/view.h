#pragma once

#include <cstdint>
#include <memory>

#include "headway/core/tensor.h"

namespace headway {

// Where and how the pixels of one image lie: rows of interleaved channels (HWC), uint8, uint16 or
// float32. Owns nothing. Rows may be further apart than they are long.
struct ImageView {
  const void* data = nullptr;
  DType dtype = DType::kUInt8;
  int height = 0;
  int width = 0;
  int channels = 0;
  int64_t row_stride_bytes = 0;

  const uint8_t* row(int y) const {
    return static_cast<const uint8_t*>(data) + y * row_stride_bytes;
  }
  template <typename T>
  const T* row_as(int y) const {
    return reinterpret_cast<const T*>(row(y));
  }
  int64_t row_bytes() const { return int64_t{width} * channels * size_of(dtype); }
  int64_t values() const { return int64_t{height} * width * channels; }
};

// The same, writable.
struct ImageSpan : ImageView {
  uint8_t* row(int y) const { return const_cast<uint8_t*>(ImageView::row(y)); }
  template <typename T>
  T* row_as(int y) const {
    return reinterpret_cast<T*>(row(y));
  }
};

// A rectangle of pixels.
struct Rect {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;

  bool operator==(const Rect&) const = default;
};

// Tightly packed image over `data`.
ImageSpan packed(void* data, DType dtype, int height, int width, int channels);
ImageView packed(const void* data, DType dtype, int height, int width, int channels);

// The part of `image` inside `rect`, sharing its pixels. REQUIRES: rect lies inside.
ImageView crop(const ImageView& image, const Rect& rect);

// Bytes that grow and never shrink, 64-byte aligned, with kSlack readable bytes behind the end so
// that vector loads may run over it. Contents are lost on growth and not cleared.
class ScratchBytes {
 public:
  static constexpr size_t kSlack = 256;

  uint8_t* reserve(size_t size_bytes);
  uint8_t* data() { return data_.get(); }
  size_t capacity_bytes() const { return capacity_; }

 private:
  struct Free {
    void operator()(uint8_t* data) const;
  };
  std::unique_ptr<uint8_t, Free> data_;
  size_t capacity_ = 0;
};

// An image whose memory is kept from use to use.
class ImageBuffer {
 public:
  ImageSpan reshape(DType dtype, int height, int width, int channels);

 private:
  ScratchBytes bytes_;
};

}  // namespace headway
