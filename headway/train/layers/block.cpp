#include <ATen/ATen.h>

#include "headway/core/error.h"
#include "headway/train/layers.h"
#include "headway/train/layers/chain.h"

namespace headway {
namespace {

// Before planning a block has only its layers, afterwards also the chain that runs them.
class BlockNode : public LayerNode {
 public:
  BlockNode(std::vector<Layer> layers, Chain chain)
      : layers_(std::move(layers)), chain_(std::move(chain)) {
    if (layers_.empty()) throw Error("Block has no layers", "give it at least one layer");
  }

  std::string kind() const override { return "Block"; }
  bool takes_indices() const override { return layers_.front().node().takes_indices(); }
  Activation activation() const override { return layers_.back().node().activation(); }

  Shape output_shape(const Shape& input) const override { return Chain(layers_, input).output(); }

  std::vector<WeightSpec> weights(const Shape& input) const override {
    std::vector<WeightSpec> weights;
    Chain(layers_, input).add_weights("", weights);
    return weights;
  }

  std::shared_ptr<const LayerNode> planned(const Shape& input) const override {
    return std::make_shared<BlockNode>(layers_, Chain(layers_, input));
  }

  at::Tensor forward(const at::Tensor& x, std::span<const at::Tensor> weights,
                     const Mode& mode) const override {
    return chain_.forward(x, weights, mode);
  }

  std::shared_ptr<const LayerNode> without_activation() const override {
    const auto linear = chain_.without_activation();
    return linear ? std::make_shared<BlockNode>(layers_, *linear) : nullptr;
  }

  double kept_outputs() const override { return chain_.kept_values() / values_in(chain_.output()); }

 private:
  std::vector<Layer> layers_;
  Chain chain_;
};

}  // namespace

Layer Block(std::vector<Layer> layers, std::string name) {
  return Layer(std::make_shared<BlockNode>(std::move(layers), Chain()), std::move(name));
}

}  // namespace headway
