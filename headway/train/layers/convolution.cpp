#include <ATen/ATen.h>
#include <fmt/format.h>

#include "headway/core/error.h"
#include "headway/train/layers.h"
#include "headway/train/layers/apply_activation.h"
#include "headway/train/layers/shapes.h"
#include "headway/train/layers/window.h"

namespace headway {
namespace {

// Both kinds of convolution. Depthwise: `filters` is per channel, `groups` is 0.
struct Convolution {
  std::string kind;
  int64_t filters;
  Size2D kernel;
  int64_t groups;
  Conv2DOptions options;

  bool depthwise() const { return groups == 0; }
  int64_t groups_of(int64_t channels) const { return depthwise() ? channels : groups; }
  int64_t outputs_of(int64_t channels) const { return depthwise() ? channels * filters : filters; }
  // Size of the window with its dilation.
  Size2D reach() const {
    return {(kernel.height - 1) * options.dilation.height + 1,
            (kernel.width - 1) * options.dilation.width + 1};
  }
};

void check(const Convolution& conv) {
  require_positive(conv.kind, "kernel size", conv.kernel);
  require_positive(conv.kind, "strides", conv.options.strides);
  require_positive(conv.kind, "dilation", conv.options.dilation);
  if (conv.filters < 1 || conv.groups < 0) {
    throw Error(!conv.depthwise()
                    ? fmt::format("{}: invalid number of filters {} or groups {}", conv.kind,
                                  conv.filters, conv.groups)
                    : fmt::format("{}: invalid depth_multiplier {}", conv.kind, conv.filters),
                "give 1 or more");
  }
}

class ConvolutionNode : public LayerNode {
 public:
  explicit ConvolutionNode(Convolution conv) : conv_(std::move(conv)) { check(conv_); }

  std::string kind() const override { return conv_.kind; }

  Shape output_shape(const Shape& input) const override {
    require_image(conv_.kind, input);
    const int64_t channels = known_size(conv_.kind, input, 2);
    const int64_t groups = conv_.groups_of(channels);
    if (channels % groups || conv_.outputs_of(channels) % groups) {
      throw Error(fmt::format("{} cannot divide {} channels and {} filters among {} groups",
                              conv_.kind, channels, conv_.filters, groups),
                  "choose .groups so that both numbers can be divided by it");
    }
    return slide_over(conv_.kind, input, conv_.reach(), conv_.options.strides,
                      conv_.options.padding, conv_.outputs_of(channels));
  }

  std::vector<WeightSpec> weights(const Shape& input) const override {
    const int64_t channels = input[2];
    const int64_t outputs = conv_.outputs_of(channels);
    const int64_t seen = channels / conv_.groups_of(channels);
    const int64_t field = conv_.kernel.height * conv_.kernel.width;
    std::vector<WeightSpec> weights{
        {.name = "weight",
         .shape = {outputs, seen, conv_.kernel.height, conv_.kernel.width},
         .initializer = conv_.options.kernel_initializer,
         // Keras' depthwise kernel is height x width x channels x filters.
         .fan_in = field * (conv_.depthwise() ? channels : seen),
         .fan_out = field * conv_.filters,
         .regularizer = conv_.options.kernel_regularizer}};
    if (conv_.options.use_bias) {
      weights.push_back({.name = "bias",
                         .shape = {outputs},
                         .initializer = conv_.options.bias_initializer,
                         .fan_in = outputs,
                         .fan_out = outputs,
                         .regularizer = conv_.options.bias_regularizer});
    }
    return weights;
  }

  at::Tensor forward(const at::Tensor& x, std::span<const at::Tensor> weights,
                     const Mode&) const override {
    const Conv2DOptions& o = conv_.options;
    const Size2D reach = conv_.reach();
    const Slide rows = slide(x.size(2), reach.height, o.strides.height, o.padding);
    const Slide columns = slide(x.size(3), reach.width, o.strides.width, o.padding);
    const bool even = rows.even() && columns.even();
    // libtorch pads both sides alike; only uneven padding costs a copy.
    const at::Tensor padded =
        even ? x
             : at::constant_pad_nd(x, {columns.before, columns.after, rows.before, rows.after}, 0);
    const at::Tensor y =
        at::conv2d(padded, weights[0], o.use_bias ? weights[1] : at::Tensor(),
                   {o.strides.height, o.strides.width},
                   {even ? rows.before : int64_t{0}, even ? columns.before : int64_t{0}},
                   {o.dilation.height, o.dilation.width}, conv_.groups_of(x.size(1)));
    return activate(y, o.activation, 1);
  }

  Activation activation() const override { return conv_.options.activation; }

  std::shared_ptr<const LayerNode> without_activation() const override {
    if (activation() == Activation()) return nullptr;
    Convolution linear = conv_;
    linear.options.activation = {};
    return std::make_shared<ConvolutionNode>(std::move(linear));
  }

 private:
  Convolution conv_;
};

}  // namespace

Layer Conv2D(int64_t filters, Size2D kernel_size, Conv2DOptions options) {
  if (options.groups < 1) {
    throw Error(fmt::format("Conv2D: invalid groups {}", options.groups),
                "groups must be at least 1");
  }
  std::string name = options.name;
  const int64_t groups = options.groups;
  return Layer(std::make_shared<ConvolutionNode>(
                   Convolution{"Conv2D", filters, kernel_size, groups, std::move(options)}),
               std::move(name));
}

Layer DepthwiseConv2D(Size2D kernel_size, DepthwiseConv2DOptions options) {
  Conv2DOptions common{.strides = options.strides,
                       .padding = options.padding,
                       .dilation = options.dilation,
                       .activation = options.activation,
                       .use_bias = options.use_bias,
                       .kernel_initializer = options.depthwise_initializer,
                       .bias_initializer = options.bias_initializer,
                       .kernel_regularizer = options.depthwise_regularizer,
                       .bias_regularizer = options.bias_regularizer};
  return Layer(std::make_shared<ConvolutionNode>(Convolution{
                   "DepthwiseConv2D", options.depth_multiplier, kernel_size, 0, std::move(common)}),
               options.name);
}

}  // namespace headway
