#pragma once

#include <vector>

#include "headway/train/layers.h"
#include "headway/train/model/model.h"

// Well-known networks with Keras' names. Weights are initialised, not loaded.
//
//   Model model = applications::resnet18({.classes = 10});
namespace headway::applications {

struct ApplicationOptions {
  int64_t classes = 1000;
  Shape input{224, 224, 3};           // height x width x channels
  Activation activation = "softmax";  // "linear": logits
};

// Keras' VGG16: 138,357,544 weights with the defaults.
Model vgg16(const ApplicationOptions& options = {}, ModelOptions model = {});

// torchvision's ResNets: strides in the 3x3 convolutions ("v1.5"), no bias before
// BatchNormalization, torchvision's padding and epsilon, He's initial weights. 11,689,512 and
// 25,557,032 trainable weights with the defaults.
Model resnet18(const ApplicationOptions& options = {}, ModelOptions model = {});
Model resnet50(const ApplicationOptions& options = {}, ModelOptions model = {});

// The same as lists of layers that begin with Input, to build on.
std::vector<Layer> vgg16_layers(const ApplicationOptions& options = {});
std::vector<Layer> resnet18_layers(const ApplicationOptions& options = {});
std::vector<Layer> resnet50_layers(const ApplicationOptions& options = {});

}  // namespace headway::applications
