#pragma once

#include <span>
#include <string>
#include <vector>

#include "headway/train/model/layer.h"
#include "headway/train/model/network.h"

namespace headway {

// Layers inside a layer, planned for one input shape; their weights form one list.
class Chain {
 public:
  Chain() = default;
  Chain(const std::vector<Layer>& layers, const Shape& input);  // without layers: x itself

  const Shape& output() const { return output_; }
  // Puts `prefix` and the layer's name in front of each name: "conv2d_1.weight".
  void add_weights(const std::string& prefix, std::vector<WeightSpec>& out) const;
  // Takes its weights from the front of `weights` and leaves the rest there.
  at::Tensor forward(at::Tensor x, std::span<const at::Tensor>& weights, const Mode& mode) const;
  double kept_values() const;  // values that autograd keeps for one sample; kAny counts as 1
  // Null when the last layer is linear.
  std::shared_ptr<const Chain> without_activation() const;

 private:
  std::vector<LayerPlan> plan_;
  Shape output_;
};

double values_in(const Shape& shape);  // kAny counts as 1

}  // namespace headway
