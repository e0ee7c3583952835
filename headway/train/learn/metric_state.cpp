#include "headway/train/learn/metric_state.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "headway/train/learn/labels.h"

namespace headway {
namespace {

// Are the labels class numbers? Keras' rule, which looks only at the shapes.
bool is_sparse(const at::Tensor& labels, const at::Tensor& output) {
  return labels.dim() < output.dim() || (labels.size(-1) == 1 && output.size(-1) > 1);
}

at::Tensor classes_of(const at::Tensor& labels, const at::Tensor& output) {
  if (is_sparse(labels, output)) return align_classes(labels, output).labels;
  return align_one_hot(labels, output).labels.argmax(-1);
}

// True where fewer than k outputs are larger than that of the right class. False where an output is
// not finite.
at::Tensor in_top_k(const at::Tensor& labels, const at::Tensor& output, int k) {
  const at::Tensor classes = classes_of(labels, output);
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

at::Tensor MetricState::accuracy(const at::Tensor& labels, const at::Tensor& output,
                                 Activation missing) const {
  if (loss_ == Loss::Kind::kBinaryCrossentropy || output.size(-1) == 1) {
    const auto [t, y] = align_values(labels, activated(output, missing));
    return y.gt(threshold_).to(t.scalar_type()).eq(t);
  }
  // Softmax and sigmoid keep the order, so they need not be applied.
  return output.argmax(-1).eq(classes_of(labels, output));
}

at::Tensor MetricState::values(const at::Tensor& labels, const at::Tensor& output,
                               Activation missing) const {
  switch (metric_.kind) {
    case Metric::Kind::kAccuracy: return accuracy(labels, output, missing);
    case Metric::Kind::kTopK: return in_top_k(labels, output, metric_.k);
    default: break;
  }
  const auto [t, y] = align_values(labels, activated(output, missing));
  return metric_.kind == Metric::Kind::kMeanSquaredError ? (y - t).square().mean(-1)
                                                         : (y - t).abs().mean(-1);
}

void MetricState::update(const at::Tensor& labels, const at::Tensor& output, Activation missing,
                         const at::Tensor& sample_weights) {
  const c10::NoGradGuard no_grad;
  const at::Tensor y = full_precision(output.dim() == 1 ? output.unsqueeze(-1) : output);
  const at::Tensor raw = values(labels, y, missing).to(at::kDouble);
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
