#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "headway/train/learn/fused_step.h"
#include "headway/train/learn/optimizer.h"

// Inside train/: an optimizer at work.
namespace headway {

// Moves the parameters by their gradients (Tensor::grad()). A parameter without a gradient stays,
// decay included. On the CPU each parameter is read and written once per step, by one fused loop
// over as many threads as libtorch has; elsewhere libtorch's foreach kernels do it. Half floats are
// stepped in float32.
class OptimizerState {
 public:
  OptimizerState(const Optimizer& optimizer, std::vector<at::Tensor> parameters);

  // Clips, then steps. `learning_rate` < 0: learning_rate(). Gradients are only read: clipping
  // happens on the way.
  void step(double learning_rate = -1);
  void zero_grad();  // gradients become undefined: the next backward writes instead of adding

  int64_t iterations() const { return iterations_; }
  double learning_rate() const;  // the schedule's, for the next step, times scale()
  // What "reduce on plateau" turns: multiplies the schedule. Saved with the state.
  double scale() const { return scale_; }
  void set_scale(double scale) { scale_ = scale; }
  // Of the gradients in the last step, before clipping. NaN unless clipped by global norm. Waits
  // for the device.
  double last_global_norm() const;

  // "<parameter index>.<Keras' name of the slot>" -> tensor, made at construction, in the
  // parameter's memory format, float32 for half floats; for checkpoints, which copy into them.
  std::vector<std::pair<std::string, at::Tensor>> slots() const;
  void restore(int64_t iterations, double scale) { iterations_ = iterations, scale_ = scale; }

 private:
  std::vector<StepTensors> gather() const;  // the parameters that have a gradient
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
