#pragma once

#include "headway/train/learn/fused_step.h"
#include "headway/train/learn/optimizer.h"

// Inside train/: the same step by libtorch's foreach kernels, for GPUs and weights that are not
// dense. Nothing waits for the device.
namespace headway {

// Clips by norm and by value. Returns the global norm (one float on the device) when it was
// needed, else an undefined tensor. Gradients are replaced, not changed.
at::Tensor clip_foreach(std::vector<StepTensors>& weights, const Clipping& clip);

void step_foreach(const std::vector<StepTensors>& weights, const StepFactors& factors);

}  // namespace headway
