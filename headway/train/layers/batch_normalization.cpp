#include <ATen/ATen.h>

#include "headway/core/error.h"
#include "headway/train/layers.h"
#include "headway/train/layers/shapes.h"

namespace headway {
namespace {

// gamma and beta are undefined where the options leave them out.
struct Parts {
  at::Tensor gamma, beta, mean, variance;
};

class BatchNormalizationNode : public LayerNode {
 public:
  explicit BatchNormalizationNode(BatchNormalizationOptions options)
      : options_(std::move(options)) {}

  std::string kind() const override { return "BatchNormalization"; }

  Shape output_shape(const Shape& input) const override {
    if (input.rank() == 0) {
      throw Error("BatchNormalization needs vectors as its input, but got single numbers",
                  "add Reshape({1}) in front of this layer");
    }
    known_size(kind(), input, input.rank() - 1);
    return input;
  }

  std::vector<WeightSpec> weights(const Shape& input) const override {
    const Shape shape{input[input.rank() - 1]};
    std::vector<WeightSpec> weights;
    if (options_.scale) {
      weights.push_back({.name = "weight",
                         .shape = shape,
                         .initializer = options_.gamma_initializer,
                         .fan_in = shape[0],
                         .fan_out = shape[0]});
    }
    if (options_.center) weights.push_back({.name = "bias", .shape = shape});
    weights.push_back({.name = "running_mean", .shape = shape, .trainable = false});
    weights.push_back(
        {.name = "running_var", .shape = shape, .initializer = "ones", .trainable = false});
    return weights;
  }

  at::Tensor forward(const at::Tensor& x, std::span<const at::Tensor> weights,
                     const Mode& mode) const override {
    const Parts parts = parts_of(weights);
    // libtorch wants the channels second; sequences become a long list of vectors.
    const bool flat = x.dim() == 2 || x.dim() == 4;
    const at::Tensor rows = flat ? x : x.reshape({-1, x.size(-1)});
    const at::Tensor y = mode.training ? train(rows, parts) : normalize(rows, parts, false);
    return flat ? y : y.reshape(x.sizes());
  }

 private:
  Parts parts_of(std::span<const at::Tensor> weights) const {
    size_t next = 0;
    Parts parts;
    if (options_.scale) parts.gamma = weights[next++];
    if (options_.center) parts.beta = weights[next++];
    parts.mean = weights[next++];
    parts.variance = weights[next];
    return parts;
  }

  at::Tensor normalize(const at::Tensor& x, const Parts& parts, bool training) const {
    return at::batch_norm(x, parts.gamma, parts.beta, parts.mean, parts.variance, training,
                          1 - options_.momentum, options_.epsilon, /*cudnn_enabled=*/true);
  }

  // libtorch updates the running variance with the unbiased variance, Keras with the biased one.
  // They differ by a factor: the running variance is multiplied by it before the update and divided
  // by it afterwards.
  at::Tensor train(const at::Tensor& x, Parts parts) const {
    const double count = static_cast<double>(x.numel()) / static_cast<double>(x.size(1));
    // Autograd saves the averages without needing them, and would report an error when they change.
    parts.mean = parts.mean.variable_data();
    parts.variance = parts.variance.variable_data();
    if (count < 2) return train_on_one(x, parts);
    const at::Tensor average = parts.variance.variable_data();
    average.mul_(count / (count - 1));
    const at::Tensor y = normalize(x, parts, true);
    average.mul_((count - 1) / count);
    return y;
  }

  // A single value has no unbiased variance; the biased one is zero.
  at::Tensor train_on_one(const at::Tensor& x, const Parts& parts) const {
    const at::Tensor y = normalize(x, {parts.gamma, parts.beta, {}, {}}, true);
    parts.mean.lerp_(x.detach().reshape({-1}), 1 - options_.momentum);
    parts.variance.mul_(options_.momentum);
    return y;
  }

  BatchNormalizationOptions options_;
};

}  // namespace

Layer BatchNormalization(BatchNormalizationOptions options) {
  std::string name = options.name;
  return Layer(std::make_shared<BatchNormalizationNode>(std::move(options)), std::move(name));
}

}  // namespace headway
