#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <string>
#include <vector>

#include "headway/train/model/layer.h"

// Inside train/: layers that have become tensors.
namespace headway {

// One line of summary(): a layer where it stands in the network.
struct LayerPlan {
  Layer layer;  // with its name
  Shape input, output;
  std::vector<WeightSpec> weights;

  int64_t weight_count(bool trainable) const;
};

// Names the layers, infers every shape and counts every weight; allocates nothing.
// Throws Error that names the layer, its input and what it needs.
std::vector<LayerPlan> plan_network(const std::vector<Layer>& layers, const Shape& input);

struct NamedWeight {
  std::string name;  // "conv2d_1.weight"
  at::Tensor value;
  bool trainable = true;
  Regularizer regularizer{};
};

// Is shown what goes into and comes out of each layer of a forward pass.
class LayerObserver {
 public:
  virtual ~LayerObserver() = default;
  virtual void saw(size_t layer, const at::Tensor& in, const at::Tensor& out) = 0;
};

class Network {
 public:
  // Draws the weights: each from its own stream of `seed`, so that a layer added behind does not
  // change those in front.
  Network(std::vector<LayerPlan> plan, at::ScalarType dtype, c10::Device device, uint64_t seed);

  // N x sample in Keras' order (N x H x W x C) -> likewise. Bytes and other integers become
  // floats unless the first layer takes indices. `logits`: stop before the last activation.
  at::Tensor forward(const at::Tensor& batch, bool training, bool logits = false,
                     LayerObserver* observer = nullptr) const;

  const std::vector<LayerPlan>& plan() const { return plan_; }
  const std::vector<NamedWeight>& weights() const { return weights_; }
  // Sum of the penalties; undefined when there are none.
  at::Tensor regularization() const;
  Activation last_activation() const;

 private:
  void move_activations();

  std::vector<LayerPlan> plan_;
  std::vector<std::shared_ptr<const LayerNode>> nodes_;  // what runs: plan_, made cheaper
  std::vector<NamedWeight> weights_;
  std::vector<at::Tensor> values_;  // of weights_, side by side for the layers' spans
  std::vector<size_t> first_;       // of each layer in values_
  std::shared_ptr<const LayerNode> logits_layer_;  // the last one without its activation
  at::ScalarType dtype_;
};

std::vector<at::Tensor> trainable(const std::vector<NamedWeight>& weights);

// Each under its name, as safetensors. Python's package reads it.
void write_weights(const std::string& path, const std::vector<NamedWeight>& weights);

// A tensor that begins as `spec` says. Moments agree with Keras'.
at::Tensor initialize(const WeightSpec& spec, at::ScalarType dtype, uint64_t stream);

}  // namespace headway
