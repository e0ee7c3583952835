#include <ATen/ATen.h>

#include "headway/train/layers.h"
#include "headway/train/layers/apply_activation.h"

namespace headway {
namespace {

class ActivationNode : public LayerNode {
 public:
  explicit ActivationNode(Activation activation) : activation_(activation) {}

  std::string kind() const override { return "Activation"; }
  Shape output_shape(const Shape& input) const override { return input; }

  at::Tensor forward(const at::Tensor& x, std::span<const at::Tensor>, const Mode&) const override {
    return apply_activation(x, activation_, x.dim() == 4 ? 1 : -1);
  }

  Activation activation() const override { return activation_; }

  std::shared_ptr<const LayerNode> without_activation() const override {
    if (activation_ == Activation()) return nullptr;
    return std::make_shared<ActivationNode>(Activation());
  }

  double kept_outputs() const override { return activation_ == Activation() ? 0 : 1; }

 private:
  Activation activation_;
};

}  // namespace

Layer::Layer(Activation activation) : Layer(std::make_shared<ActivationNode>(activation)) {}

at::Tensor apply_activation(const at::Tensor& x, Activation activation, int64_t axis) {
  switch (activation.kind()) {
    case Activation::kLinear: return x;
    case Activation::kRelu: return at::relu(x);
    case Activation::kRelu6: return at::hardtanh(x, 0, 6);
    case Activation::kLeakyRelu: return at::leaky_relu(x, 0.2);
    case Activation::kElu: return at::elu(x);
    case Activation::kSelu: return at::selu(x);
    case Activation::kGelu: return at::gelu(x);
    case Activation::kSilu: return at::silu(x);
    case Activation::kSigmoid: return at::sigmoid(x);
    case Activation::kTanh: return at::tanh(x);
    case Activation::kSoftplus: return at::softplus(x);
    case Activation::kSoftmax: return at::softmax(x, axis);
  }
  return x;
}

at::Tensor activate(at::Tensor fresh, Activation activation, int64_t axis) {
  if (activation == Activation(Activation::kRelu)) return at::relu_(fresh);
  return apply_activation(fresh, activation, axis);
}

}  // namespace headway
