#include "headway/train/model/applications.h"

#include <fmt/format.h>

namespace headway::applications {
namespace {

// torchvision's: its "momentum" of 0.1 is the share of the new value.
constexpr double kResNetEpsilon = 1e-5, kResNetMomentum = 0.9;

using Layers = std::vector<Layer>;

// A convolution as torchvision pads it (the same on all sides, whatever the stride), normalised.
void add_convolution(Layers& layers, int64_t filters, int64_t window, int64_t stride) {
  const bool even = stride > 1 && window > 1;
  if (even) layers.push_back(ZeroPadding2D(window / 2));
  layers.push_back(Conv2D(filters, window,
                          {.strides = stride,
                           .padding = even ? Padding("valid") : Padding("same"),
                           .use_bias = false,
                           .kernel_initializer = "he_normal"}));
  layers.push_back(BatchNormalization({.momentum = kResNetMomentum, .epsilon = kResNetEpsilon}));
}

void add_relu_convolution(Layers& layers, int64_t filters, int64_t window, int64_t stride) {
  add_convolution(layers, filters, window, stride);
  layers.push_back(Activation("relu"));
}

struct Stage {
  int64_t filters, blocks;
};

// Two 3x3 convolutions; the first one strides.
Layers basic_branch(int64_t filters, int64_t stride) {
  Layers layers;
  add_relu_convolution(layers, filters, 3, stride);
  add_convolution(layers, filters, 3, 1);
  return layers;
}

// 1x1, 3x3, 1x1 to four times the filters; the middle one strides.
Layers bottleneck_branch(int64_t filters, int64_t stride) {
  Layers layers;
  add_relu_convolution(layers, filters, 1, 1);
  add_relu_convolution(layers, filters, 3, stride);
  add_convolution(layers, 4 * filters, 1, 1);
  return layers;
}

struct ResNet {
  Layers (*branch)(int64_t filters, int64_t stride);
  int64_t widening;
  std::vector<Stage> stages;
};

void add_stage(Layers& layers, const ResNet& net, size_t index) {
  const Stage& stage = net.stages[index];
  for (int64_t block = 0; block < stage.blocks; ++block) {
    const int64_t stride = index > 0 && block == 0 ? 2 : 1;
    ResidualOptions options{.activation = "relu",
                            .name = fmt::format("stage{}_block{}", index + 1, block + 1)};
    const bool same_shape = block > 0 || (stride == 1 && net.widening == 1);
    if (!same_shape) add_convolution(options.shortcut, net.widening * stage.filters, 1, stride);
    layers.push_back(Residual(net.branch(stage.filters, stride), std::move(options)));
  }
}

Layers resnet(const ResNet& net, const ApplicationOptions& options) {
  Layers layers{Input(options.input)};
  add_relu_convolution(layers, 64, 7, 2);
  // After relu a zero at the edge is never the maximum, like torchvision's -inf.
  layers.push_back(ZeroPadding2D(1));
  layers.push_back(MaxPooling2D(3, {.strides = 2}));
  for (size_t i = 0; i < net.stages.size(); ++i) add_stage(layers, net, i);
  layers.push_back(GlobalAveragePooling2D());
  layers.push_back(
      Dense(options.classes, {.activation = options.activation, .name = "predictions"}));
  return layers;
}

}  // namespace

Layers vgg16_layers(const ApplicationOptions& options) {
  Layers layers{Input(options.input)};
  const Stage stages[] = {{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}};
  for (size_t i = 0; i < std::size(stages); ++i) {
    for (int64_t j = 0; j < stages[i].blocks; ++j) {
      layers.push_back(Conv2D(stages[i].filters, 3,
                              {.padding = "same",
                               .activation = "relu",
                               .name = fmt::format("block{}_conv{}", i + 1, j + 1)}));
    }
    layers.push_back(MaxPooling2D(2, {.name = fmt::format("block{}_pool", i + 1)}));
  }
  layers.push_back(Flatten("flatten"));
  layers.push_back(Dense(4096, {.activation = "relu", .name = "fc1"}));
  layers.push_back(Dense(4096, {.activation = "relu", .name = "fc2"}));
  layers.push_back(
      Dense(options.classes, {.activation = options.activation, .name = "predictions"}));
  return layers;
}

Layers resnet18_layers(const ApplicationOptions& options) {
  return resnet({basic_branch, 1, {{64, 2}, {128, 2}, {256, 2}, {512, 2}}}, options);
}

Layers resnet50_layers(const ApplicationOptions& options) {
  return resnet({bottleneck_branch, 4, {{64, 3}, {128, 4}, {256, 6}, {512, 3}}}, options);
}

Model vgg16(const ApplicationOptions& options, ModelOptions model) {
  return Model(vgg16_layers(options), std::move(model));
}

Model resnet18(const ApplicationOptions& options, ModelOptions model) {
  return Model(resnet18_layers(options), std::move(model));
}

Model resnet50(const ApplicationOptions& options, ModelOptions model) {
  return Model(resnet50_layers(options), std::move(model));
}

}  // namespace headway::applications
