#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "headway/train/learn/optimizer_kernels.h"

// Inside train/: one step of an optimizer over all weights at once, on the CPU.
namespace headway {

struct StepTensors {
  at::Tensor weight, gradient;
  at::Tensor first, second, third;  // slots, undefined when the rule has none
  double gradient_scale = 1;
};

// Half floats are updated in float32 and have float32 slots: squares of gradients do not fit.
at::ScalarType computed_in(at::ScalarType type);

// Can step_fused() update this weight, once it has the type of computed_in()?
bool can_fuse(const at::Tensor& weight);

// All tensors of a StepTensors have the same strides. One pass over all of them, divided among
// libtorch's threads by size, so that many small weights cost one fork. The result is the same to
// the bit for any number of threads.
void step_fused(const std::vector<StepTensors>& weights, const StepFactors& factors);

// The sum of squares of each tensor, in double precision, the same to the bit for any number of
// threads. REQUIRES: dense CPU tensors of float or double.
std::vector<double> sums_of_squares(const std::vector<at::Tensor>& tensors);

}  // namespace headway
