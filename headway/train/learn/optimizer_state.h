#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "headway/train/learn/fused_step.h"
#include "headway/train/learn/optimizer.h"

// Inside train/: an optimizer with its slots.
namespace headway {

// Moves weights by their gradients (Tensor::grad()). A weight without a gradient stays as it is,
// also with weight decay. On the CPU each weight is read and written once per step, by one fused
// loop over libtorch's threads; elsewhere libtorch's foreach kernels do it. Half floats are updated
// in float32.
class OptimizerState {
 public:
  OptimizerState(const Optimizer& optimizer, std::vector<at::Tensor> weights);

  // Clips, then steps. `learning_rate` < 0: learning_rate(). Gradients are only read: clipping
  // does not change them.
  void step(double learning_rate = -1);
  void zero_grad();  // gradients become undefined: the next backward writes instead of adding

  int64_t iterations() const { return iterations_; }
  double learning_rate() const;  // the schedule's, for the next step, times scale()
  // Multiplies the schedule's learning rate; callbacks change it. Saved in checkpoints.
  double scale() const { return scale_; }
  void set_scale(double scale) { scale_ = scale; }
  // Of the gradients in the last step, before clipping. NaN unless clipped by global norm. Waits
  // for the device.
  double last_global_norm() const;

  // "<index of the weight>.<Keras' name of the slot>" -> tensor, made at construction, in the
  // weight's memory format, float32 for half floats. Checkpoints copy into them.
  std::vector<std::pair<std::string, at::Tensor>> slots() const;
  void restore(int64_t iterations, double scale) { iterations_ = iterations, scale_ = scale; }

 private:
  std::vector<StepTensors> gather() const;  // the weights that have a gradient
  void put_back(const std::vector<StepTensors>& active);
  StepFactors factors(double learning_rate) const;
  void clip_fused(std::vector<StepTensors>& weights);

  Optimizer optimizer_;
  std::vector<StepTensors> states_;  // gradients undefined
  bool fused_ = true;
  int64_t iterations_ = 0;
  double scale_ = 1;
  at::Tensor last_global_norm_;
};

}  // namespace headway
