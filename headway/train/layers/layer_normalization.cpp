#include <ATen/ATen.h>

#include "headway/core/error.h"
#include "headway/train/layers.h"
#include "headway/train/layers/axes.h"
#include "headway/train/layers/shapes.h"

namespace headway {
namespace {

class LayerNormalizationNode : public LayerNode {
 public:
  explicit LayerNormalizationNode(LayerNormalizationOptions options)
      : options_(std::move(options)) {}

  std::string kind() const override { return "LayerNormalization"; }

  Shape output_shape(const Shape& input) const override {
    if (input.rank() == 0) {
      throw Error("LayerNormalization needs vectors as its input, but got single numbers",
                  "add Reshape({1}) in front of this layer");
    }
    known_size(kind(), input, input.rank() - 1);
    return input;
  }

  std::vector<WeightSpec> weights(const Shape& input) const override {
    const Shape shape{input[input.rank() - 1]};
    std::vector<WeightSpec> weights;
    if (options_.scale)
      weights.push_back({.name = "weight", .shape = shape, .initializer = "ones"});
    if (options_.center) weights.push_back({.name = "bias", .shape = shape});
    return weights;
  }

  at::Tensor forward(const at::Tensor& x, std::span<const at::Tensor> weights,
                     const Mode&) const override {
    const at::Tensor gamma = options_.scale ? weights.front() : at::Tensor();
    const at::Tensor beta = options_.center ? weights.back() : at::Tensor();
    const at::Tensor last = channels_last(x);
    return channels_first(at::layer_norm(last, {last.size(-1)}, gamma, beta, options_.epsilon));
  }

 private:
  LayerNormalizationOptions options_;
};

}  // namespace

Layer LayerNormalization(LayerNormalizationOptions options) {
  std::string name = options.name;
  return Layer(std::make_shared<LayerNormalizationNode>(std::move(options)), std::move(name));
}

}  // namespace headway
