#include <ATen/ATen.h>
#include <fmt/format.h>

#include "headway/core/error.h"
#include "headway/train/layers.h"
#include "headway/train/layers/apply_activation.h"
#include "headway/train/layers/axes.h"
#include "headway/train/layers/shapes.h"

namespace headway {
namespace {

class DenseNode : public LayerNode {
 public:
  DenseNode(int64_t units, DenseOptions options) : units_(units), options_(std::move(options)) {
    if (units < 1)
      throw Error(fmt::format("Dense: invalid units {}", units), "units must be at least 1");
  }

  std::string kind() const override { return "Dense"; }

  Shape output_shape(const Shape& input) const override {
    if (input.rank() == 0) {
      throw Error("Dense needs vectors as its input, but got single numbers",
                  "add Reshape({1}) in front of this layer");
    }
    known_size("Dense", input, input.rank() - 1);
    Shape output = input;
    output[input.rank() - 1] = units_;
    return output;
  }

  std::vector<WeightSpec> weights(const Shape& input) const override {
    const int64_t inputs = input[input.rank() - 1];
    std::vector<WeightSpec> weights{{.name = "weight",
                                     .shape = {units_, inputs},
                                     .initializer = options_.kernel_initializer,
                                     .fan_in = inputs,
                                     .fan_out = units_,
                                     .regularizer = options_.kernel_regularizer}};
    if (options_.use_bias) {
      weights.push_back({.name = "bias",
                         .shape = {units_},
                         .initializer = options_.bias_initializer,
                         .fan_in = units_,
                         .fan_out = units_,
                         .regularizer = options_.bias_regularizer});
    }
    return weights;
  }

  at::Tensor forward(const at::Tensor& x, std::span<const at::Tensor> weights,
                     const Mode&) const override {
    const at::Tensor bias = options_.use_bias ? weights[1] : at::Tensor();
    // The last axis of an image is its channels, which libtorch keeps before height and width.
    const at::Tensor y = at::linear(channels_last(x), weights[0], bias);
    return channels_first(activate(y, options_.activation));
  }

  Activation activation() const override { return options_.activation; }

  std::shared_ptr<const LayerNode> without_activation() const override {
    if (options_.activation == Activation()) return nullptr;
    DenseOptions linear = options_;
    linear.activation = {};
    return std::make_shared<DenseNode>(units_, linear);
  }

 private:
  int64_t units_;
  DenseOptions options_;
};

}  // namespace

Layer Dense(int64_t units, DenseOptions options) {
  std::string name = options.name;
  return Layer(std::make_shared<DenseNode>(units, std::move(options)), std::move(name));
}

}  // namespace headway
