#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headway/train/model/layer.h"

// Keras' layers with Keras' defaults and formulas. Images are height x width x channels.
namespace headway {

// Keras' paddings by Keras' names, checked by the compiler: {.padding = "same"}.
class Padding {
 public:
  enum Kind : uint8_t { kValid, kSame };

  constexpr Padding(Kind kind = kValid) : kind_(kind) {}
  consteval Padding(const char* name) : kind_(find(name)) {}

  constexpr bool operator==(const Padding&) const = default;

 private:
  static constexpr Kind find(std::string_view name) {
    if (name == "valid") return kValid;
    if (name == "same") return kSame;
    throw "padding must be \"valid\" or \"same\"";
  }

  Kind kind_;
};

// Height and width of a window, a stride, a dilation; one number stands for both.
struct Size2D {
  int64_t height = 1, width = 1;

  constexpr Size2D(int64_t both) : height(both), width(both) {}
  constexpr Size2D(int64_t height, int64_t width) : height(height), width(width) {}
};

// The shape of one sample; must be the first layer. Without it the first batch tells the shape.
Layer Input(Shape shape);

struct DenseOptions {
  Activation activation{};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer{};
  Regularizer bias_regularizer{};
  std::string name{};
};
Layer Dense(int64_t units, DenseOptions options = {});

struct Conv2DOptions {
  Size2D strides = 1;
  Padding padding = "valid";
  Size2D dilation = 1;
  int64_t groups = 1;
  Activation activation{};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer{};
  Regularizer bias_regularizer{};
  std::string name{};
};
Layer Conv2D(int64_t filters, Size2D kernel_size, Conv2DOptions options = {});

struct DepthwiseConv2DOptions {
  Size2D strides = 1;
  Padding padding = "valid";
  Size2D dilation = 1;
  int64_t depth_multiplier = 1;
  Activation activation{};
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer depthwise_regularizer{};
  Regularizer bias_regularizer{};
  std::string name{};
};
Layer DepthwiseConv2D(Size2D kernel_size, DepthwiseConv2DOptions options = {});

struct Pooling2DOptions {
  std::optional<Size2D> strides{};  // default: the window
  Padding padding = "valid";
  std::string name{};
};
Layer MaxPooling2D(Size2D pool_size = 2, Pooling2DOptions options = {});
Layer AveragePooling2D(Size2D pool_size = 2, Pooling2DOptions options = {});
Layer GlobalAveragePooling2D(std::string name = "");
Layer ZeroPadding2D(Size2D padding = 1, std::string name = "");  // on all four sides

Layer Flatten(std::string name = "");
Layer Reshape(Shape shape, std::string name = "");  // one dimension may be kAny
Layer Dropout(double rate, std::string name = "");
struct RescalingOptions {
  double offset = 0;
  std::string name{};
};
Layer Rescaling(double scale, RescalingOptions options = {});  // also turns bytes into floats
struct NormalizationOptions {
  std::vector<double> mean{};      // one per channel, or one for all
  std::vector<double> variance{};  // likewise
  std::string name{};
};
Layer Normalization(NormalizationOptions options);  // (x - mean) / sqrt(variance), last axis

struct BatchNormalizationOptions {
  double momentum = 0.99;
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  Initializer gamma_initializer = "ones";
  std::string name{};
};
Layer BatchNormalization(BatchNormalizationOptions options = {});

struct LayerNormalizationOptions {
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  std::string name{};
};
Layer LayerNormalization(LayerNormalizationOptions options = {});  // over the last axis

struct EmbeddingOptions {
  Initializer embeddings_initializer = "random_uniform";
  Regularizer embeddings_regularizer{};
  std::string name{};
};
Layer Embedding(int64_t input_dim, int64_t output_dim, EmbeddingOptions options = {});

// LSTM and GRU take steps x features and give the last output, or all with return_sequences.
struct RecurrentOptions {
  bool return_sequences = false;
  bool bidirectional = false;  // the outputs of both directions, concatenated
  bool use_bias = true;
  bool unit_forget_bias = true;  // LSTM: the forget gate's bias starts at 1
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer{};
  Regularizer recurrent_regularizer{};
  std::string name{};
};
Layer LSTM(int64_t units, RecurrentOptions options = {});
Layer GRU(int64_t units, RecurrentOptions options = {});  // reset_after, as in Keras 2 and 3

// Layers in sequence that count as one.
Layer Block(std::vector<Layer> layers, std::string name = "");
// activation(layers(x) + shortcut(x)); an empty shortcut is x itself.
struct ResidualOptions {
  std::vector<Layer> shortcut{};
  Activation activation{};
  std::string name{};
};
Layer Residual(std::vector<Layer> layers, ResidualOptions options = {});

}  // namespace headway
