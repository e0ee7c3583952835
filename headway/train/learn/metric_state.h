#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "headway/train/learn/loss.h"
#include "headway/train/learn/metric.h"
#include "headway/train/model/activation.h"

// Inside train/: a metric and its sums so far.
namespace headway {

// Sums on the device; value() and sums() are the only calls that wait for it. Use from one thread.
class MetricState {
 public:
  // `loss` and the shapes choose the kind of accuracy.
  MetricState(const Metric& metric, const Loss& loss);

  // `missing`: the activation that was left out of `output` (see compute_loss).
  void update(const at::Tensor& labels, const at::Tensor& output, Activation missing,
              const at::Tensor& sample_weights = {});
  double value() const;  // 0 before the first update, as Keras'
  void reset();
  std::string name() const { return metric_.name(); }

  // For checkpoints in the middle of an epoch.
  struct Sums {
    double total = 0, count = 0;
  };
  Sums sums() const;
  void restore(Sums sums);

 private:
  // One number per sample, or per value of the labels.
  at::Tensor values(const at::Tensor& labels, const at::Tensor& output, Activation missing) const;
  at::Tensor accuracy(const at::Tensor& labels, const at::Tensor& output, Activation missing) const;

  Metric metric_;
  Loss::Kind loss_;
  double threshold_;
  Sums known_;           // restored, and the counts of updates without weights
  at::Tensor measured_;  // float64 {total, sum of weights} on the device of the outputs
};

}  // namespace headway
