#include "headway/train/learn/metric_state.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "headway/train/learn/target.h"

namespace headway {
namespace {

// Is `target` class numbers for `output`? Keras' rule, which looks at the shapes alone.
bool is_sparse(const at::Tensor& target, const at::Tensor& output) {
  return target.dim() < output.dim() || (target.size(-1) == 1 && output.size(-1) > 1);
}

at::Tensor classes_of(const at::Tensor& target, const at::Tensor& output) {
  if (is_sparse(target, output)) return align_classes(target, output).target;
  return align_one_hot(target, output).target.argmax(-1);
}

// Fewer than k outputs are larger than the right one's. Not finite: nothing can be said, so false.
at::Tensor in_top_k(const at::Tensor& target, const at::Tensor& output, int k) {
  const at::Tensor classes = classes_of(target, output);
  const at::Tensor known = classes.ge(0).logical_and(classes.lt(output.size(-1)));
  const at::Tensor index = classes.clamp(0, output.size(-1) - 1).unsqueeze(-1);
  const at::Tensor larger = output.gt(output.gather(-1, index)).sum(-1);
  return larger.lt(k).logical_and(known).logical_and(output.isfinite().all(-1));
}

// Each sample's mean: a sample counts once however many steps it has.
at::Tensor per_sample(const at::Tensor& values) {
  return values.dim() > 1 ? values.flatten(1).mean(-1) : values;
}

}  // namespace

MetricState::MetricState(const Metric& metric, const Loss& loss)
    : metric_(metric),
      loss_(loss.kind),
      threshold_(metric.threshold.value_or(loss.from_logits ? 0 : 0.5)) {}

at::Tensor MetricState::accuracy(const at::Tensor& target, const at::Tensor& output,
                                 Activation missing) const {
  if (loss_ == Loss::Kind::kBinaryCrossentropy || output.size(-1) == 1) {
    const auto [t, y] = align_values(target, activated(output, missing));
    return y.gt(threshold_).to(t.scalar_type()).eq(t);
  }
  // Softmax and sigmoid keep the order: what they would do to the outputs does not matter.
  return output.argmax(-1).eq(classes_of(target, output));
}

at::Tensor MetricState::values(const at::Tensor& target, const at::Tensor& output,
                               Activation missing) const {
  switch (metric_.kind) {
    case Metric::Kind::kAccuracy: return accuracy(target, output, missing);
    case Metric::Kind::kTopK: return in_top_k(target, output, metric_.k);
    default: break;
  }
  const auto [t, y] = align_values(target, activated(output, missing));
  return metric_.kind == Metric::Kind::kMeanSquaredError ? (y - t).square().mean(-1)
                                                         : (y - t).abs().mean(-1);
}

void MetricState::update(const at::Tensor& target, const at::Tensor& output, Activation missing,
                         const at::Tensor& sample_weights) {
  const c10::NoGradGuard no_grad;
  const at::Tensor y = full_precision(output.dim() == 1 ? output.unsqueeze(-1) : output);
  const at::Tensor raw = values(target, y, missing).to(at::kDouble);
  if (!measured_.defined()) measured_ = at::zeros({2}, raw.options());
  if (!sample_weights.defined()) {
    measured_[0] += per_sample(raw).sum();
    known_.count += double(raw.size(0));
    return;
  }
  const at::Tensor w = align_weights(sample_weights, raw);
  measured_[0] += per_sample(raw * w).sum();
  measured_[1] += per_sample(w).sum();
}

MetricState::Sums MetricState::sums() const {
  if (!measured_.defined()) return known_;
  const at::Tensor now = measured_.cpu();
  return {known_.total + now[0].item<double>(), known_.count + now[1].item<double>()};
}

double MetricState::value() const {
  const Sums now = sums();
  return now.count != 0 ? now.total / now.count : 0;
}

void MetricState::reset() { restore({}); }

void MetricState::restore(Sums sums) {
  known_ = sums;
  measured_ = at::Tensor();
}

}  // namespace headway
