#include "headway/train/learn/foreach_step.h"

#include <ATen/ATen.h>

namespace headway {
namespace {

using Tensors = std::vector<at::Tensor>;

// One list of tensors per role, as foreach kernels take them.
struct Columns {
  Tensors w, g, first, second, third;

  explicit Columns(const std::vector<StepTensors>& weights) {
    for (const StepTensors& t : weights) {
      w.push_back(t.weight);
      g.push_back(t.gradient);
      first.push_back(t.first);
      second.push_back(t.second);
      third.push_back(t.third);
    }
  }
};

// average = average * keep + fresh * (1 - keep)
void blend(Tensors& average, const Tensors& fresh, double keep) {
  at::_foreach_mul_(average, keep);
  at::_foreach_add_(average, fresh, 1 - keep);
}
void blend_squares(Tensors& average, const Tensors& fresh, double keep) {
  at::_foreach_mul_(average, keep);
  at::_foreach_addcmul_(average, fresh, fresh, 1 - keep);
}

void step_sgd(Columns& c, const StepFactors& f) {
  if (f.rule == StepRule::kSGD) return at::_foreach_add_(c.w, c.g, -f.rate);
  at::_foreach_mul_(c.first, f.momentum);
  at::_foreach_add_(c.first, c.g, -f.rate);
  if (f.rule == StepRule::kMomentum) return at::_foreach_add_(c.w, c.first);
  at::_foreach_add_(c.w, c.first, f.momentum);
  at::_foreach_add_(c.w, c.g, -f.rate);
}

void step_adam(Columns& c, const StepFactors& f) {
  blend(c.first, c.g, f.beta_1);
  blend_squares(c.second, c.g, f.beta_2);
  if (f.rule == StepRule::kAmsgrad)
    for (size_t i = 0; i < c.third.size(); ++i)
      at::maximum_out(c.third[i], c.third[i], c.second[i]);
  Tensors spread = at::_foreach_sqrt(f.rule == StepRule::kAmsgrad ? c.third : c.second);
  at::_foreach_add_(spread, f.epsilon);
  at::_foreach_addcdiv_(c.w, c.first, spread, -f.rate);
}

void step_rmsprop(Columns& c, const StepFactors& f) {
  const bool centered =
      f.rule == StepRule::kRMSpropCentered || f.rule == StepRule::kRMSpropCenteredMomentum;
  blend_squares(c.first, c.g, f.rho);
  Tensors spread = at::_foreach_add(c.first, f.epsilon);
  if (centered) {
    blend(c.third, c.g, f.rho);
    at::_foreach_addcmul_(spread, c.third, c.third, -1);
  }
  at::_foreach_sqrt_(spread);
  if (f.rule == StepRule::kRMSprop || f.rule == StepRule::kRMSpropCentered)
    return at::_foreach_addcdiv_(c.w, c.g, spread, -f.rate);
  at::_foreach_mul_(c.second, f.momentum);
  at::_foreach_addcdiv_(c.second, c.g, spread, f.rate);
  at::_foreach_add_(c.w, c.second, -1);
}

}  // namespace

at::Tensor clip_foreach(std::vector<StepTensors>& weights, const Clipping& clip) {
  if (clip.by_value > 0)
    for (StepTensors& t : weights) t.gradient = t.gradient.clamp(-*clip.by_value, *clip.by_value);
  if (clip.by_norm > 0)
    for (StepTensors& t : weights)
      t.gradient = t.gradient * (*clip.by_norm / at::norm(t.gradient).clamp_min(*clip.by_norm));
  if (clip.by_global_norm <= 0 || weights.empty()) return {};
  Tensors norms;
  for (const StepTensors& t : weights) norms.push_back(at::norm(t.gradient));
  const at::Tensor norm = at::norm(at::stack(norms));
  // An infinite norm makes all weights NaN, as in Keras: otherwise they would silently stay as they
  // are.
  const at::Tensor scale =
      *clip.by_global_norm / norm.clamp_min(*clip.by_global_norm) + (norm - norm);
  for (StepTensors& t : weights) t.gradient = t.gradient * scale;
  return norm;
}

void step_foreach(const std::vector<StepTensors>& weights, const StepFactors& f) {
  Columns columns(weights);
  if (f.decay > 0) at::_foreach_add_(columns.w, columns.w, -f.decay);
  switch (f.rule) {
    case StepRule::kSGD:
    case StepRule::kMomentum:
    case StepRule::kNesterov: return step_sgd(columns, f);
    case StepRule::kAdam:
    case StepRule::kAmsgrad: return step_adam(columns, f);
    default: return step_rmsprop(columns, f);
  }
}

}  // namespace headway
