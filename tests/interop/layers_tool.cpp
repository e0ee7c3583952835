// layers_tool FOLDER: does to the networks of FOLDER/cases.json what layers_test.py does in Keras.
//
// A case is {"layers": [{"class": "Dense", "units": 3, ...}], "input": [5], "dtype": "float64",
// "training": true}. Case 7 reads 7.in.safetensors: its weights by their names, batches x0, x1 ...
// for one forward pass each, dy: the gradient of the last output. 7.out.safetensors gets y, dx,
// inference (of the last batch, afterwards), each weight and gradient. Without x0 only the weights
// as they begin.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "headway/core/error.h"
#include "headway/io/records/safetensors.h"
#include "headway/train/layers.h"
#include "headway/train/model/applications.h"
#include "headway/train/model/network.h"

using namespace headway;
using nlohmann::json;

namespace {

Shape shape_of(const json& j) { return Shape(j.get<std::vector<int64_t>>()); }

Size2D size_of(const json& layer, const char* key, int64_t otherwise) {
  if (!layer.contains(key)) return otherwise;
  if (layer[key].is_number()) return layer[key].get<int64_t>();
  return {layer[key][0], layer[key][1]};
}

Padding padding_of(const json& layer) {
  return layer.value("padding", "valid") == "same" ? Padding::kSame : Padding::kValid;
}

Activation activation_of(const json& layer) {
  return Activation::parse(layer.value("activation", "linear"));
}

Initializer initializer_of(const json& layer, const char* key, const char* otherwise) {
  return Initializer::parse(layer.value(key, otherwise));
}

std::vector<Layer> layers_of(const json& list);

Layer convolution_of(const json& j) {
  return Conv2D(j["filters"], size_of(j, "kernel_size", 1),
                {.strides = size_of(j, "strides", 1),
                 .padding = padding_of(j),
                 .dilation = size_of(j, "dilation_rate", 1),
                 .groups = j.value("groups", 1),
                 .activation = activation_of(j),
                 .use_bias = j.value("use_bias", true),
                 .kernel_initializer = initializer_of(j, "kernel_initializer", "glorot_uniform")});
}

Layer depthwise_of(const json& j) {
  return DepthwiseConv2D(
      size_of(j, "kernel_size", 1),
      {.strides = size_of(j, "strides", 1),
       .padding = padding_of(j),
       .dilation = size_of(j, "dilation_rate", 1),
       .depth_multiplier = j.value("depth_multiplier", 1),
       .activation = activation_of(j),
       .use_bias = j.value("use_bias", true),
       .depthwise_initializer = initializer_of(j, "depthwise_initializer", "glorot_uniform")});
}

Layer dense_of(const json& j) {
  return Dense(j["units"],
               {.activation = activation_of(j),
                .use_bias = j.value("use_bias", true),
                .kernel_initializer = initializer_of(j, "kernel_initializer", "glorot_uniform")});
}

Layer recurrent_of(const json& j) {
  const RecurrentOptions options{
      .return_sequences = j.value("return_sequences", false),
      .bidirectional = j.value("bidirectional", false),
      .use_bias = j.value("use_bias", true),
      .kernel_initializer = initializer_of(j, "kernel_initializer", "glorot_uniform"),
      .recurrent_initializer = initializer_of(j, "recurrent_initializer", "orthogonal")};
  return j["class"] == "LSTM" ? LSTM(j["units"], options) : GRU(j["units"], options);
}

Layer batch_normalization_of(const json& j) {
  return BatchNormalization({.momentum = j.value("momentum", 0.99),
                             .epsilon = j.value("epsilon", 1e-3),
                             .center = j.value("center", true),
                             .scale = j.value("scale", true)});
}

Layer pooling_of(const json& j) {
  const Size2D window = size_of(j, "pool_size", 2);
  const Pooling2DOptions options{
      .strides = j.contains("strides") ? std::optional(size_of(j, "strides", 1)) : std::nullopt,
      .padding = padding_of(j)};
  return j["class"] == "MaxPooling2D" ? MaxPooling2D(window, options)
                                      : AveragePooling2D(window, options);
}

Layer layer_of(const json& j) {
  const std::string kind = j["class"];
  if (kind == "Dense") return dense_of(j);
  if (kind == "Conv2D") return convolution_of(j);
  if (kind == "DepthwiseConv2D") return depthwise_of(j);
  if (kind == "MaxPooling2D" || kind == "AveragePooling2D") return pooling_of(j);
  if (kind == "LSTM" || kind == "GRU") return recurrent_of(j);
  if (kind == "BatchNormalization") return batch_normalization_of(j);
  if (kind == "GlobalAveragePooling2D") return GlobalAveragePooling2D();
  if (kind == "ZeroPadding2D") return ZeroPadding2D(size_of(j, "padding", 1));
  if (kind == "Flatten") return Flatten();
  if (kind == "Reshape") return Reshape(shape_of(j["target_shape"]));
  if (kind == "Dropout") return Dropout(j["rate"]);
  if (kind == "Rescaling") return Rescaling(j["scale"], {.offset = j.value("offset", 0.0)});
  if (kind == "Normalization")
    return Normalization({.mean = j["mean"].get<std::vector<double>>(),
                          .variance = j["variance"].get<std::vector<double>>()});
  if (kind == "LayerNormalization")
    return LayerNormalization({.epsilon = j.value("epsilon", 1e-3),
                               .center = j.value("center", true),
                               .scale = j.value("scale", true)});
  if (kind == "Embedding")
    return Embedding(
        j["input_dim"], j["output_dim"],
        {.embeddings_initializer = initializer_of(j, "embeddings_initializer", "random_uniform")});
  if (kind == "Activation") return activation_of(j);
  if (kind == "Block") return Block(layers_of(j["layers"]));
  if (kind == "Residual")
    return Residual(layers_of(j["layers"]),
                    {.shortcut = layers_of(j.value("shortcut", json::array())),
                     .activation = activation_of(j)});
  throw Error("no layer is called " + kind);
}

std::vector<Layer> layers_of(const json& list) {
  std::vector<Layer> layers;
  for (const json& one : list) layers.push_back(layer_of(one));
  return layers;
}

std::vector<Layer> network_of(const json& c) {
  if (!c.contains("application")) return layers_of(c["layers"]);
  const applications::ApplicationOptions options{.classes = c["classes"],
                                                 .input = shape_of(c["input"])};
  if (c["application"] == "vgg16") return applications::vgg16_layers(options);
  if (c["application"] == "resnet18") return applications::resnet18_layers(options);
  return applications::resnet50_layers(options);
}

at::ScalarType torch_type_of(DType dtype) {
  if (dtype == DType::kFloat64) return at::kDouble;
  if (dtype == DType::kInt64) return at::kLong;
  if (dtype == DType::kInt32) return at::kInt;
  return dtype == DType::kUInt8 ? at::kByte : at::kFloat;
}

at::Tensor torch_of(const Tensor& tensor) {
  const Shape shape = tensor.shape();
  return at::from_blob(const_cast<void*>(tensor.data()),
                       at::IntArrayRef(shape.begin(), static_cast<size_t>(shape.rank())),
                       torch_type_of(tensor.dtype()))
      .clone();
}

void add(Safetensors& out, const std::string& name, const at::Tensor& value) {
  const at::Tensor plain = value.detach().contiguous();
  const bool wide = plain.scalar_type() == at::kDouble;
  Tensor tensor = Tensor::empty(wide ? DType::kFloat64 : DType::kFloat32,
                                Shape(std::span(plain.sizes().data(), plain.sizes().size())));
  std::memcpy(tensor.data(), plain.data_ptr(), plain.nbytes());
  out.tensors.emplace_back(name, std::move(tensor));
}

void load_weights(const Network& network, const Safetensors& in) {
  const c10::NoGradGuard guard;
  for (const NamedWeight& weight : network.weights()) weight.value.copy_(torch_of(in[weight.name]));
}

void run_network(const json& c, const Network& network, const Safetensors& in, Safetensors& out) {
  load_weights(network, in);
  at::Tensor x, y;
  for (int i = 0; in.find(fmt::format("x{}", i)); ++i) {
    x = torch_of(in[fmt::format("x{}", i)]);
    if (x.is_floating_point()) x.set_requires_grad(true);
    y = network.forward(x, c.value("training", false));
  }
  if (y.requires_grad()) y.backward(torch_of(in["dy"]));
  add(out, "y", y);
  if (x.grad().defined()) add(out, "dx", x.grad());
  for (const NamedWeight& weight : network.weights())
    if (weight.trainable) add(out, "grad:" + weight.name, weight.value.grad());
  add(out, "inference", network.forward(x, false));
}

void run_case(const json& c, const std::string& base) {
  const auto dtype = c["dtype"] == "float64" ? at::kDouble : at::kFloat;
  const Network network(plan_network(network_of(c), shape_of(c["input"])), dtype, at::kCPU, 5);
  const Safetensors in = read_safetensors(base + ".in.safetensors");
  Safetensors out;
  if (in.find("x0")) run_network(c, network, in, out);
  for (const NamedWeight& weight : network.weights()) add(out, weight.name, weight.value);
  write_safetensors(base + ".out.safetensors", out);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: layers_tool FOLDER\n"), 2;
  const std::string folder = argv[1];
  const json cases = json::parse(std::ifstream(folder + "/cases.json"));
  int failed = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    try {
      run_case(cases[i], fmt::format("{}/{}", folder, i));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: %s\n", cases[i]["name"].get<std::string>().c_str(), error.what());
      ++failed;
    }
  }
  return failed ? 1 : 0;
}
