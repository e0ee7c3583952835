#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <string>
#include <vector>

#include "headway/train/model/layer.h"

// Inside train/: layers planned for one input shape, and their weights.
namespace headway {

// A layer at its place in a network; one line of summary().
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

// Gets the input and the output of each layer in a forward pass.
class LayerObserver {
 public:
  virtual ~LayerObserver() = default;
  virtual void on_layer(size_t layer, const at::Tensor& in, const at::Tensor& out) = 0;
};

class Network {
 public:
  // Initialises the weights, each from its own stream of `seed`, so that a layer added at the end
  // does not change the others.
  Network(std::vector<LayerPlan> plan, at::ScalarType dtype, c10::Device device, uint64_t seed);

  // N x sample in Keras' order (N x H x W x C) in, the same order out. Bytes and other integers
  // become floats unless the first layer takes indices. `logits`: stop before the last activation.
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
  // What runs: the layers of plan_, with activations at cheaper places.
  std::vector<std::shared_ptr<const LayerNode>> nodes_;
  std::vector<NamedWeight> weights_;
  std::vector<at::Tensor> values_;  // of weights_, in one array for the layers' spans
  std::vector<size_t> first_;       // index in values_ of each layer's first weight
  std::shared_ptr<const LayerNode> logits_layer_;  // the last one without its activation
  at::ScalarType dtype_;
};

std::vector<at::Tensor> trainable(const std::vector<NamedWeight>& weights);

// Each under its name, as safetensors. Python's package reads it.
void write_weights(const std::string& path, const std::vector<NamedWeight>& weights);

// A tensor initialised as `spec` says. Mean and variance agree with Keras'.
at::Tensor initialize(const WeightSpec& spec, at::ScalarType dtype, uint64_t stream);

}  // namespace headway
