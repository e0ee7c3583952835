#pragma once

#include <vector>

#include "headway/train/layers.h"

// Well-known networks, as lists of layers that begin with Input. Weights are drawn, not loaded.
namespace headway::applications {

struct ApplicationOptions {
  int64_t classes = 1000;
  Shape input{224, 224, 3};           // height x width x channels
  Activation activation = "softmax";  // "linear": logits
};

// Keras' VGG16: 138,357,544 weights with the defaults.
std::vector<Layer> vgg16_layers(const ApplicationOptions& options = {});

// torchvision's ResNets: strides in the 3x3 convolutions ("v1.5"), no bias beside
// BatchNormalization, its padding and its epsilon, He's initial weights. 11,689,512 and 25,557,032
// trainable weights with the defaults.
std::vector<Layer> resnet18_layers(const ApplicationOptions& options = {});
std::vector<Layer> resnet50_layers(const ApplicationOptions& options = {});

}  // namespace headway::applications
