#include "headway/train/learn/optimizer_state.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "headway/train/learn/foreach_step.h"

namespace headway {
namespace {

// Keras' names of the slots, "" for one that this optimizer does not keep.
std::array<const char*, 3> slot_names(const Optimizer& o) {
  switch (o.kind) {
    case Optimizer::Kind::kSGD: return {o.momentum > 0 ? "momentum" : "", "", ""};
    case Optimizer::Kind::kAdam: return {"momentum", "velocity", o.amsgrad ? "velocity_hat" : ""};
    case Optimizer::Kind::kRMSprop:
      return {"velocity", o.momentum > 0 ? "momentum" : "", o.centered ? "average_gradient" : ""};
  }
  return {"", "", ""};
}

StepRule rule_of(const Optimizer& o) {
  const bool momentum = o.momentum > 0;
  switch (o.kind) {
    case Optimizer::Kind::kSGD:
      return !momentum ? StepRule::kSGD : o.nesterov ? StepRule::kNesterov : StepRule::kMomentum;
    case Optimizer::Kind::kAdam: return o.amsgrad ? StepRule::kAmsgrad : StepRule::kAdam;
    case Optimizer::Kind::kRMSprop:
      if (o.centered)
        return momentum ? StepRule::kRMSpropCenteredMomentum : StepRule::kRMSpropCentered;
      return momentum ? StepRule::kRMSpropMomentum : StepRule::kRMSprop;
  }
  return StepRule::kSGD;
}

// Are both in memory in the same order? The stride of an axis of length 1 does not matter.
bool same_order(const at::Tensor& a, const at::Tensor& b) {
  for (int64_t axis = 0; axis < a.dim(); ++axis)
    if (a.size(axis) != 1 && a.stride(axis) != b.stride(axis)) return false;
  return true;
}

// `gradient` in the order and type of `weight`, copied only when they differ.
at::Tensor laid_out_as(const at::Tensor& weight, const at::Tensor& gradient) {
  const bool strided = gradient.layout() == at::kStrided;
  if (strided && gradient.scalar_type() == weight.scalar_type() && same_order(gradient, weight))
    return gradient;
  return at::empty_like(weight).copy_(strided ? gradient : gradient.to_dense());
}

}  // namespace

OptimizerState::OptimizerState(const Optimizer& optimizer, std::vector<at::Tensor> weights)
    : optimizer_(optimizer) {
  optimizer_.check();
  const auto names = slot_names(optimizer_);
  for (at::Tensor& weight : weights) {
    const auto slot = [&](size_t i) {
      if (!*names[i]) return at::Tensor();
      return at::zeros_like(weight.detach(), computed_in(weight.scalar_type()));
    };
    fused_ = fused_ && can_fuse(weight);
    states_.push_back(
        {.weight = weight, .gradient = {}, .first = slot(0), .second = slot(1), .third = slot(2)});
  }
}

std::vector<StepTensors> OptimizerState::gather() const {
  std::vector<StepTensors> active;
  for (const StepTensors& state : states_) {
    const at::Tensor& gradient = state.weight.grad();
    if (!gradient.defined()) continue;
    StepTensors w = state;
    w.weight = state.weight.to(computed_in(state.weight.scalar_type()));
    w.gradient = fused_ ? laid_out_as(w.weight, gradient) : gradient.to(w.weight.scalar_type());
    active.push_back(std::move(w));
  }
  return active;
}

// Where the step was computed on a converted copy, copies the result into the weight.
void OptimizerState::put_back(const std::vector<StepTensors>& active) {
  auto done = active.begin();
  for (StepTensors& state : states_) {
    if (!state.weight.grad().defined()) continue;
    const at::Tensor& stepped = (done++)->weight;
    if (!stepped.is_same(state.weight)) state.weight.copy_(stepped);
    // So that autograd notices when an older graph still needs the previous values.
    else if (fused_) state.weight.unsafeGetTensorImpl()->bump_version();
  }
}

StepFactors OptimizerState::factors(double learning_rate) const {
  StepFactors f{.rule = rule_of(optimizer_),
                .rate = learning_rate,
                .decay = optimizer_.weight_decay * learning_rate,
                .limit = optimizer_.clip.by_value.value_or(0),
                .momentum = optimizer_.momentum,
                .beta_1 = optimizer_.beta_1,
                .beta_2 = optimizer_.beta_2,
                .rho = optimizer_.rho,
                .epsilon = optimizer_.epsilon};
  if (optimizer_.kind == Optimizer::Kind::kAdam) {
    const double step = double(iterations_ + 1);
    f.rate *= std::sqrt(1 - std::pow(f.beta_2, step)) / (1 - std::pow(f.beta_1, step));
  }
  return f;
}

void OptimizerState::clip_fused(std::vector<StepTensors>& weights) {
  const Clipping& clip = optimizer_.clip;
  last_global_norm_ = at::Tensor();
  if (clip.by_norm <= 0 && clip.by_global_norm <= 0) return;
  std::vector<at::Tensor> gradients;
  for (const StepTensors& w : weights) gradients.push_back(w.gradient);
  const std::vector<double> squares = sums_of_squares(gradients);
  if (clip.by_norm > 0) {
    for (size_t i = 0; i < weights.size(); ++i)
      weights[i].gradient_scale = *clip.by_norm / std::max(std::sqrt(squares[i]), *clip.by_norm);
    return;
  }
  double norm = 0;
  for (double sum : squares) norm += sum;
  norm = std::sqrt(norm);
  last_global_norm_ = at::scalar_tensor(norm, at::kDouble);
  // An infinite norm makes all weights NaN, as in Keras: otherwise they would silently stay as they
  // are.
  const double scale = *clip.by_global_norm / std::max(norm, *clip.by_global_norm) + (norm - norm);
  for (StepTensors& w : weights) w.gradient_scale = scale;
}

void OptimizerState::step(double learning_rate) {
  const c10::NoGradGuard no_grad;
  const StepFactors f = factors(learning_rate < 0 ? this->learning_rate() : learning_rate);
  std::vector<StepTensors> active = gather();
  if (fused_) {
    clip_fused(active);
    step_fused(active, f);
  } else {
    last_global_norm_ = clip_foreach(active, optimizer_.clip);
    if (!active.empty()) step_foreach(active, f);
  }
  put_back(active);
  ++iterations_;
}

void OptimizerState::zero_grad() {
  for (StepTensors& state : states_) state.weight.mutable_grad() = at::Tensor();
}

double OptimizerState::learning_rate() const {
  return optimizer_.learning_rate.at(iterations_) * scale_;
}

double OptimizerState::last_global_norm() const {
  if (!last_global_norm_.defined()) return std::numeric_limits<double>::quiet_NaN();
  return last_global_norm_.item<double>();
}

std::vector<std::pair<std::string, at::Tensor>> OptimizerState::slots() const {
  std::vector<std::pair<std::string, at::Tensor>> named;
  const auto names = slot_names(optimizer_);
  for (size_t i = 0; i < states_.size(); ++i) {
    const at::Tensor tensors[] = {states_[i].first, states_[i].second, states_[i].third};
    for (size_t k = 0; k < 3; ++k)
      if (*names[k]) named.emplace_back(fmt::format("{}.{}", i, names[k]), tensors[k]);
  }
  return named;
}

}  // namespace headway
