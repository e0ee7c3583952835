#include "headway/image/view.h"

#include <cassert>
#include <cstdlib>
#include <new>

namespace headway {
namespace {

constexpr size_t kAlignment = 64;

}  // namespace

ImageSpan packed(void* data, DType dtype, int height, int width, int channels) {
  return {{.data = data,
           .dtype = dtype,
           .height = height,
           .width = width,
           .channels = channels,
           .row_stride_bytes = int64_t{width} * channels * size_of(dtype)}};
}

ImageView packed(const void* data, DType dtype, int height, int width, int channels) {
  return packed(const_cast<void*>(data), dtype, height, width, channels);
}

ImageView crop(const ImageView& image, const Rect& rect) {
  assert(rect.x >= 0 && rect.y >= 0 && rect.x + rect.width <= image.width &&
         rect.y + rect.height <= image.height);
  ImageView part = image;
  part.data = image.row(rect.y) + int64_t{rect.x} * image.channels * size_of(image.dtype);
  part.height = rect.height;
  part.width = rect.width;
  return part;
}

void ScratchBytes::Free::operator()(uint8_t* data) const { std::free(data); }

uint8_t* ScratchBytes::reserve(size_t size_bytes) {
  if (size_bytes <= capacity_ && data_) return data_.get();
  const size_t rounded = (size_bytes + kSlack + kAlignment - 1) / kAlignment * kAlignment;
  data_.reset();
  capacity_ = 0;
  data_.reset(static_cast<uint8_t*>(std::aligned_alloc(kAlignment, rounded)));
  if (!data_) throw std::bad_alloc();
  capacity_ = size_bytes;
  return data_.get();
}

ImageSpan ImageBuffer::reshape(DType dtype, int height, int width, int channels) {
  const size_t size_bytes = size_t(height) * width * channels * size_of(dtype);
  return packed(bytes_.reserve(size_bytes), dtype, height, width, channels);
}

}  // namespace headway
