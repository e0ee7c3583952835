#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headway/core/tensor.h"
#include "headway/train/model/activation.h"
#include "headway/train/model/initializer.h"

namespace at {
class Tensor;
}

namespace headway {

inline constexpr int64_t kAny = -1;  // a dimension that may differ from batch to batch

// The description of a weight that does not exist yet. Shapes are libtorch's: (units, inputs),
// (filters, channels, h, w).
struct WeightSpec {
  std::string name;  // "weight", "bias", "running_mean"
  Shape shape;
  Initializer initializer = "zeros";
  // For glorot, he and lecun: inputs and outputs as Keras counts them for its own kernels.
  int64_t fan_in = 0, fan_out = 0;
  bool trainable = true;
  Regularizer regularizer{};
  std::vector<double> values{};  // when given, its initial values
  // When given, the weight itself, which belongs to a module.
  std::shared_ptr<at::Tensor> existing{};
};

// What the network is doing right now.
struct Mode {
  bool training = false;
};

// One kind of layer with its options, immutable. It knows shapes and weights before anything is
// allocated; the weights themselves live in the Network and are handed in.
//
// Shapes are those of one sample, as Keras writes them: height x width x channels, steps x
// features. The tensors are libtorch's: an image batch is N x C x H x W, in channels-last memory,
// so that neither side copies.
class LayerNode {
 public:
  virtual ~LayerNode() = default;

  virtual std::string kind() const = 0;  // "Dense"; a layer without a name is called after it
  // Throws Error when `input` does not fit; Network adds the layer's name.
  virtual Shape output_shape(const Shape& input) const = 0;
  virtual std::vector<WeightSpec> weights(const Shape& /*input*/) const { return {}; }
  // The layer prepared for inputs of that shape, asked for once; null: it needs no preparation.
  virtual std::shared_ptr<const LayerNode> planned(const Shape& /*input*/) const { return nullptr; }
  virtual bool takes_indices() const { return false; }  // its input stays integers
  // `weights` in the order of weights(). Called only by the training thread, never by autograd's.
  virtual at::Tensor forward(const at::Tensor& x, std::span<const at::Tensor> weights,
                             const Mode& mode) const = 0;
  // Its last operation; the last layer's decides which losses fit.
  virtual Activation activation() const { return "linear"; }
  // The same layer without its activation, so that a loss can work on logits; null: it has none.
  virtual std::shared_ptr<const LayerNode> without_activation() const { return nullptr; }
  // The same layer followed by `activation`, where that gives the same as `activation` before it,
  // and is cheaper: a monotonic function of the maximum is the maximum of the function. Null:
  // it does not.
  virtual std::shared_ptr<const LayerNode> with_activation_behind(Activation) const {
    return nullptr;
  }
  // Values that autograd keeps for the backward pass, per value of the output (1: the output only).
  virtual double kept_outputs() const { return 1; }
};

// A layer as a program names it: what it does, and what it is called. Cheap to copy.
//
//   Layer hidden = Dense(128, {.activation = "relu", .name = "hidden"});
class Layer {
 public:
  Layer(std::shared_ptr<const LayerNode> node, std::string name = "")
      : node_(std::move(node)), name_(std::move(name)) {}
  Layer(Activation activation);  // an activation as a layer

  const LayerNode& node() const { return *node_; }
  const std::shared_ptr<const LayerNode>& shared_node() const { return node_; }
  const std::string& name() const { return name_; }  // empty: the model gives it one
  Layer named(std::string name) const { return Layer(node_, std::move(name)); }

 private:
  std::shared_ptr<const LayerNode> node_;
  std::string name_;
};

}  // namespace headway
