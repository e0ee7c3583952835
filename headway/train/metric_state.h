#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "headway/train/activation.h"
#include "headway/train/loss.h"
#include "headway/train/metric.h"

// Inside train/: a metric that is being counted.
namespace headway {

// Sums on the device; value() is the only call that waits for it. Not for several threads.
class MetricState {
 public:
  // `loss` and `output_values` (number of values per sample) choose the kind of accuracy.
  MetricState(const Metric& metric, const Loss& loss);

  // `missing`: the activation that `output` has not been through (see compute_loss).
  void update(const at::Tensor& target, const at::Tensor& output, Activation missing,
              const at::Tensor& sample_weights = {});
  double value() const;
  void reset();
  std::string name() const { return metric_.name(); }

  // For checkpoints in mid-epoch.
  struct Sums {
    double total = 0, count = 0;
  };
  Sums sums() const;
  void restore(Sums sums);

 private:
  Metric metric_;
  Loss::Kind loss_;
  at::Tensor total_;  // one float64 on the device of the outputs
  double count_ = 0;
  double restored_ = 0;
};

}  // namespace headway
