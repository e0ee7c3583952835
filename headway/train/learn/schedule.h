#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headway {

// The learning rate as a pure function of the step, so that it needs no state of its own.
//
//   Adam({.learning_rate = Schedule::cosine(1e-3, 10'000).with_warmup(500)})
class Schedule {
 public:
  Schedule(double constant) : initial_(constant) {}

  // initial * (alpha + (1 - alpha) * (1 + cos(pi * step / decay_steps)) / 2), alpha from there on.
  static Schedule cosine(double initial, int64_t decay_steps, double alpha = 0);
  // initial * rate ^ (step / decay_steps); staircase: the exponent rounded down.
  static Schedule exponential(double initial, int64_t decay_steps, double rate,
                              bool staircase = false);
  // initial * factor ^ (number of `boundaries` passed; step 10 has not passed 10 yet).
  static Schedule step(double initial, std::vector<int64_t> boundaries, double factor = 0.1);
  // This schedule after a linear rise from 0 over `steps`; its own step 0 is at the end of the
  // rise.
  Schedule with_warmup(int64_t steps) const;

  double at(int64_t step) const;
  bool is_constant() const { return kind_ == Kind::kConstant && warmup_steps_ == 0; }
  std::string describe() const;  // "cosine 0.001 over 10000 steps, warm-up 500"

 private:
  enum class Kind { kConstant, kCosine, kExponential, kStep };
  double decayed(int64_t step) const;  // without the warm-up

  Kind kind_ = Kind::kConstant;
  double initial_ = 0;
  int64_t decay_steps_ = 1;
  double factor_ = 0;
  bool staircase_ = false;
  std::vector<int64_t> boundaries_;
  int64_t warmup_steps_ = 0;
};

}  // namespace headway
