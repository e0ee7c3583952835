#include <ATen/ATen.h>
#include <fmt/format.h>

#include "headway/core/error.h"
#include "headway/train/layers.h"
#include "headway/train/layers/apply_activation.h"
#include "headway/train/layers/chain.h"
#include "headway/train/layers/shapes.h"

namespace headway {
namespace {

struct Branches {
  Chain main, shortcut;
};

class ResidualNode : public LayerNode {
 public:
  ResidualNode(std::vector<Layer> layers, ResidualOptions options, Branches branches)
      : layers_(std::move(layers)), options_(std::move(options)), branches_(std::move(branches)) {
    if (layers_.empty()) throw Error("Residual has no layers", "give it at least one layer");
  }

  std::string kind() const override { return "Residual"; }
  bool takes_indices() const override { return layers_.front().node().takes_indices(); }
  Activation activation() const override { return options_.activation; }

  Shape output_shape(const Shape& input) const override {
    const Branches branches = plan(input);
    const Shape &main = branches.main.output(), &shortcut = branches.shortcut.output();
    if (!fits(main, shortcut)) {
      throw Error(fmt::format("Residual cannot add an output of shape {} to a shortcut of shape {}",
                              text(main), text(shortcut)),
                  "add .shortcut = {Conv2D(filters, 1, ...)} with the filters of the last layer "
                  "and the same strides");
    }
    return main;
  }

  std::vector<WeightSpec> weights(const Shape& input) const override {
    const Branches branches = plan(input);
    std::vector<WeightSpec> weights;
    branches.main.add_weights("", weights);
    branches.shortcut.add_weights("shortcut.", weights);
    return weights;
  }

  std::shared_ptr<const LayerNode> planned(const Shape& input) const override {
    return std::make_shared<ResidualNode>(layers_, options_, plan(input));
  }

  at::Tensor forward(const at::Tensor& x, std::span<const at::Tensor> weights,
                     const Mode& mode) const override {
    const at::Tensor main = branches_.main.forward(x, weights, mode);
    const at::Tensor sum = main + branches_.shortcut.forward(x, weights, mode);
    return activate(sum, options_.activation, sum.dim() == 4 ? 1 : -1);
  }

  std::shared_ptr<const LayerNode> without_activation() const override {
    if (options_.activation == Activation()) return nullptr;
    ResidualOptions linear = options_;
    linear.activation = {};
    return std::make_shared<ResidualNode>(layers_, std::move(linear), branches_);
  }

  double kept_outputs() const override {
    const double values = branches_.main.kept_values() + branches_.shortcut.kept_values();
    return 1 + values / values_in(branches_.main.output());
  }

 private:
  Branches plan(const Shape& input) const {
    Chain main(layers_, input);
    try {
      return {std::move(main), Chain(options_.shortcut, input)};
    } catch (const Error& error) {
      throw error.within("shortcut");
    }
  }

  std::vector<Layer> layers_;
  ResidualOptions options_;
  Branches branches_;
};

}  // namespace

Layer Residual(std::vector<Layer> layers, ResidualOptions options) {
  std::string name = options.name;
  return Layer(std::make_shared<ResidualNode>(std::move(layers), std::move(options), Branches()),
               std::move(name));
}

}  // namespace headway
