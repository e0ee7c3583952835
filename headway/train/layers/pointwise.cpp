#include <ATen/ATen.h>
#include <fmt/format.h>

#include "headway/core/error.h"
#include "headway/train/layers.h"
#include "headway/train/layers/axes.h"
#include "headway/train/layers/shapes.h"

namespace headway {
namespace {

class DropoutNode : public LayerNode {
 public:
  explicit DropoutNode(double rate) : rate_(rate) {
    if (rate < 0 || rate >= 1) {
      throw Error(fmt::format("Dropout: invalid rate {}", rate),
                  "the rate is the share of values that are dropped: 0 <= rate < 1");
    }
  }

  std::string kind() const override { return "Dropout"; }
  Shape output_shape(const Shape& input) const override { return input; }

  at::Tensor forward(const at::Tensor& x, std::span<const at::Tensor>,
                     const Mode& mode) const override {
    return mode.training && rate_ > 0 ? at::dropout(x, rate_, /*train=*/true) : x;
  }

  double kept_outputs() const override { return 2; }  // the mask too

 private:
  double rate_;
};

class RescalingNode : public LayerNode {
 public:
  RescalingNode(double scale, double offset) : scale_(scale), offset_(offset) {}

  std::string kind() const override { return "Rescaling"; }
  Shape output_shape(const Shape& input) const override { return input; }

  at::Tensor forward(const at::Tensor& x, std::span<const at::Tensor>, const Mode&) const override {
    const at::Tensor scaled = x * scale_;
    return offset_ == 0 ? scaled : scaled + offset_;
  }

 private:
  double scale_, offset_;
};

class NormalizationNode : public LayerNode {
 public:
  explicit NormalizationNode(NormalizationOptions options) : options_(std::move(options)) {
    if (options_.mean.empty() || options_.variance.empty()) {
      throw Error("Normalization: mean or variance is missing",
                  "give both .mean and .variance: one value per channel, or one for all");
    }
  }

  std::string kind() const override { return "Normalization"; }

  Shape output_shape(const Shape& input) const override {
    for (const auto* values : {&options_.mean, &options_.variance}) {
      const auto count = static_cast<int64_t>(values->size());
      if (count == 1 || (input.rank() > 0 && fits({count}, {input[input.rank() - 1]}))) continue;
      throw Error(
          fmt::format("Normalization: mean or variance has {} values, which does not fit the last "
                      "dimension of the input, {}",
                      count, text(input)),
          "give one value per channel, or one for all");
    }
    return input;
  }

  // Kept as weights, so that they are on the device and in checkpoints.
  std::vector<WeightSpec> weights(const Shape&) const override {
    return {constant("mean", options_.mean), constant("variance", options_.variance)};
  }

  at::Tensor forward(const at::Tensor& x, std::span<const at::Tensor> weights,
                     const Mode&) const override {
    const at::Tensor deviation = weights[1].sqrt().clamp_min(kSmallestDeviation);
    return channels_first((channels_last(x) - weights[0]) / deviation);
  }

 private:
  static constexpr double kSmallestDeviation = 1e-7;  // Keras' epsilon()

  static WeightSpec constant(const char* name, const std::vector<double>& values) {
    return {.name = name,
            .shape = {static_cast<int64_t>(values.size())},
            .trainable = false,
            .values = values};
  }

  NormalizationOptions options_;
};

}  // namespace

Layer Dropout(double rate, std::string name) {
  return Layer(std::make_shared<DropoutNode>(rate), std::move(name));
}

Layer Rescaling(double scale, RescalingOptions options) {
  return Layer(std::make_shared<RescalingNode>(scale, options.offset), std::move(options.name));
}

Layer Normalization(NormalizationOptions options) {
  std::string name = options.name;
  return Layer(std::make_shared<NormalizationNode>(std::move(options)), std::move(name));
}

}  // namespace headway
