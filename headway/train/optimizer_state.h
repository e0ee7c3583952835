#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "headway/train/optimizer.h"

// Inside train/: an optimizer at work.
namespace headway {

// Moves the parameters by their gradients (Tensor::grad()). A parameter without a gradient stays.
// On the CPU each parameter is read and written once per step, by one fused loop over as many
// threads as libtorch has; elsewhere libtorch's foreach kernels do it.
class OptimizerState {
 public:
  OptimizerState(const Optimizer& optimizer, std::vector<at::Tensor> parameters);

  // Clips, then steps. `learning_rate` < 0: the schedule's. Gradients are left as they are after
  // clipping; zero_grad() clears them.
  void step(double learning_rate = -1);
  void zero_grad();  // gradients become undefined: the next backward writes instead of adding

  int64_t iterations() const { return iterations_; }
  double learning_rate() const;  // the schedule's, for the next step, times scale()
  // What "reduce on plateau" turns: multiplies the schedule. Saved with the state.
  double scale() const { return scale_; }
  void set_scale(double scale) { scale_ = scale; }
  double last_global_norm() const;  // of the gradients in the last step; NaN when not computed

  // "<parameter index>.<slot>" -> tensor, made at construction; for checkpoints.
  std::vector<std::pair<std::string, at::Tensor>> slots() const;
  void restore(int64_t iterations, double scale) { iterations_ = iterations, scale_ = scale; }

 private:
  struct Slots {
    at::Tensor first, second, third;  // momentum | m, v, v_hat | velocity, momentum, mean gradient
  };
  Optimizer optimizer_;
  std::vector<at::Tensor> parameters_;
  std::vector<Slots> slots_;
  int64_t iterations_ = 0;
  double scale_ = 1;
  double last_global_norm_ = 0;
};

}  // namespace headway
