#pragma once

#include <ATen/core/Tensor.h>

#include "headway/train/model/activation.h"

namespace headway {

// `axis` is where softmax sums to one: 1 for images (N x C x H x W), else -1.
at::Tensor apply_activation(const at::Tensor& x, Activation activation, int64_t axis = -1);

// The same for the result of a matrix product or a convolution, which nothing else needs, not even
// its own gradient: relu then works in place.
at::Tensor activate(at::Tensor fresh, Activation activation, int64_t axis = -1);

}  // namespace headway
