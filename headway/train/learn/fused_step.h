#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "headway/train/learn/optimizer_kernels.h"

// Inside train/: a step over all weights at once, on the CPU.
namespace headway {

struct StepTensors {
  at::Tensor weight, gradient;
  at::Tensor first, second, third;  // slots, undefined when the rule has none
  double gradient_scale = 1;
};

// Half floats are stepped in float32, and so are their slots: squares of gradients do not fit.
at::ScalarType computed_in(at::ScalarType type);

// Can step_fused() work on this weight, once it is of the type it is computed in?
bool can_fuse(const at::Tensor& weight);

// All tensors of a StepTensors have the same strides. One pass over all of them, shared among
// libtorch's threads by size, so that many small weights cost one fork. Changes no bit with the
// number of threads.
void step_fused(const std::vector<StepTensors>& weights, const StepFactors& factors);

// The sum of squares of each tensor, in double precision. Changes no bit with the number of
// threads. REQUIRES: dense CPU tensors of float or double.
std::vector<double> sums_of_squares(const std::vector<at::Tensor>& tensors);

}  // namespace headway
