#pragma once

#include <ATen/core/Tensor.h>

// Batches of samples with three dimensions are kept with the last one in front (N x C x H x W),
// whatever the dimensions mean; all others in Keras' order. Both functions return views.
namespace headway {

inline at::Tensor channels_last(const at::Tensor& x) {
  return x.dim() == 4 ? x.permute({0, 2, 3, 1}) : x;
}

inline at::Tensor channels_first(const at::Tensor& x) {
  return x.dim() == 4 ? x.permute({0, 3, 1, 2}) : x;
}

}  // namespace headway
