#pragma once

#include <cstdint>

// Inside train/: the arithmetic of one optimizer step over plain arrays. SIMD, one pass, no
// libtorch. A value is computed in the same way wherever it is in its array, so that dividing an
// array among threads changes no bit.
namespace headway {

enum class StepRule : uint8_t {
  kSGD,
  kMomentum,
  kNesterov,
  kAdam,
  kAmsgrad,
  kRMSprop,
  kRMSpropMomentum,
  kRMSpropCentered,
  kRMSpropCenteredMomentum,
};

// The constants of one step, the same for all weights.
struct StepFactors {
  StepRule rule = StepRule::kSGD;
  double rate = 0;   // learning rate; Adam's with its bias correction
  double decay = 0;  // share of the weight that is subtracted first: weight decay * learning rate
  double limit = 0;  // gradients are clipped to -limit .. limit; 0: not clipped
  double momentum = 0;
  double beta_1 = 0, beta_2 = 0;
  double rho = 0;
  double epsilon = 0;
};

// One weight's memory; slots that the rule does not use are null.
//   first: momentum | m | velocity;  second: v | momentum;  third: v_hat | mean gradient
template <typename T>
struct StepArrays {
  T* weight = nullptr;
  const T* gradient = nullptr;
  T* first = nullptr;
  T* second = nullptr;
  T* third = nullptr;
  double gradient_scale = 1;

  StepArrays from(int64_t i) const {
    const auto moved = [i](T* p) { return p ? p + i : nullptr; };
    return {weight + i, gradient + i, moved(first), moved(second), moved(third), gradient_scale};
  }
};

void apply_step(const StepFactors& factors, const StepArrays<float>& arrays, int64_t count);
void apply_step(const StepFactors& factors, const StepArrays<double>& arrays, int64_t count);

// In double precision, in an order that depends on `count` only.
double sum_of_squares(const float* values, int64_t count);
double sum_of_squares(const double* values, int64_t count);

}  // namespace headway
