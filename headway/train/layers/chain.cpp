#include "headway/train/layers/chain.h"

#include <ATen/ATen.h>

namespace headway {

Chain::Chain(const std::vector<Layer>& layers, const Shape& input) : output_(input) {
  if (layers.empty()) return;
  plan_ = plan_network(layers, input);
  output_ = plan_.back().output;
}

void Chain::add_weights(const std::string& prefix, std::vector<WeightSpec>& out) const {
  for (const LayerPlan& step : plan_) {
    for (WeightSpec spec : step.weights) {
      spec.name = prefix + step.layer.name() + "." + spec.name;
      out.push_back(std::move(spec));
    }
  }
}

at::Tensor Chain::forward(at::Tensor x, std::span<const at::Tensor>& weights,
                          const Mode& mode) const {
  for (const LayerPlan& step : plan_) {
    x = step.layer.node().forward(x, weights.first(step.weights.size()), mode);
    weights = weights.subspan(step.weights.size());
  }
  return x;
}

double Chain::kept_values() const {
  double values = 0;
  for (const LayerPlan& step : plan_)
    values += step.layer.node().kept_outputs() * values_in(step.output);
  return values;
}

std::shared_ptr<const Chain> Chain::without_activation() const {
  if (plan_.empty()) return nullptr;
  const Layer& last = plan_.back().layer;
  auto linear_end = last.node().without_activation();
  if (!linear_end) return nullptr;
  auto linear = std::make_shared<Chain>(*this);
  linear->plan_.back().layer = Layer(std::move(linear_end), last.name());
  return linear;
}

double values_in(const Shape& shape) {
  double values = 1;
  for (const int64_t size : shape) values *= size == kAny ? 1 : static_cast<double>(size);
  return values;
}

}  // namespace headway
