#include "headway/train/learn/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "headway/core/error.h"

namespace headway {
namespace {

void check_decay_steps(int64_t steps) {
  if (steps > 0) return;
  throw Error(fmt::format("learning rate schedule: invalid decay_steps {}", steps),
              "give the number of steps the decay takes, at least 1");
}

}  // namespace

Schedule Schedule::cosine(double initial, int64_t decay_steps, double alpha) {
  check_decay_steps(decay_steps);
  Schedule schedule(initial);
  schedule.kind_ = Kind::kCosine;
  schedule.decay_steps_ = decay_steps;
  schedule.factor_ = alpha;
  return schedule;
}

Schedule Schedule::exponential(double initial, int64_t decay_steps, double rate, bool staircase) {
  check_decay_steps(decay_steps);
  Schedule schedule(initial);
  schedule.kind_ = Kind::kExponential;
  schedule.decay_steps_ = decay_steps;
  schedule.factor_ = rate;
  schedule.staircase_ = staircase;
  return schedule;
}

Schedule Schedule::step(double initial, std::vector<int64_t> boundaries, double factor) {
  if (!std::is_sorted(boundaries.begin(), boundaries.end()))
    throw Error("learning rate schedule: the boundaries are not in order",
                "sort the boundaries, smallest first");
  Schedule schedule(initial);
  schedule.kind_ = Kind::kStep;
  schedule.factor_ = factor;
  schedule.boundaries_ = std::move(boundaries);
  return schedule;
}

Schedule Schedule::with_warmup(int64_t steps) const {
  if (steps < 0)
    throw Error(fmt::format("learning rate schedule: invalid warm-up of {} steps", steps),
                "the number of warm-up steps must be 0 or more");
  Schedule schedule = *this;
  schedule.warmup_steps_ = steps;
  return schedule;
}

double Schedule::decayed(int64_t step) const {
  switch (kind_) {
    case Kind::kConstant: return initial_;
    case Kind::kCosine: {
      const double done = double(std::min(step, decay_steps_)) / double(decay_steps_);
      const double share = (1 + std::cos(std::numbers::pi * done)) / 2;
      return initial_ * ((1 - factor_) * share + factor_);
    }
    case Kind::kExponential: {
      const double exponent = double(step) / double(decay_steps_);
      return initial_ * std::pow(factor_, staircase_ ? std::floor(exponent) : exponent);
    }
    case Kind::kStep: {
      // A boundary belongs to the piece before it, as in Keras' PiecewiseConstantDecay.
      const auto behind = std::lower_bound(boundaries_.begin(), boundaries_.end(), step);
      return initial_ * std::pow(factor_, double(behind - boundaries_.begin()));
    }
  }
  return initial_;
}

double Schedule::at(int64_t step) const {
  if (step >= warmup_steps_) return decayed(step - warmup_steps_);
  return decayed(0) * double(step) / double(warmup_steps_);
}

std::string Schedule::describe() const {
  std::string text;
  switch (kind_) {
    case Kind::kConstant: text = fmt::format("{:g}", initial_); break;
    case Kind::kCosine:
      text = fmt::format("cosine {:g} over {} steps", initial_, decay_steps_);
      if (factor_ != 0) text += fmt::format(" to {:g}", initial_ * factor_);
      break;
    case Kind::kExponential:
      text = fmt::format("exponential {:g} times {:g} {} {} steps", initial_, factor_,
                         staircase_ ? "every" : "over", decay_steps_);
      break;
    case Kind::kStep:
      text = fmt::format("step {:g} times {:g} behind", initial_, factor_);
      for (int64_t boundary : boundaries_) text += fmt::format(" {}", boundary);
      break;
  }
  if (warmup_steps_ > 0) text += fmt::format(", warm-up {}", warmup_steps_);
  return text;
}

}  // namespace headway
