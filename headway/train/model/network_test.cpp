#include "headway/train/model/network.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "headway/core/error.h"
#include "headway/train/layers.h"
#include "headway/train/model/applications.h"

namespace headway {
namespace {

std::vector<std::string> names(const std::vector<LayerPlan>& plan) {
  std::vector<std::string> out;
  for (const LayerPlan& layer : plan) out.push_back(layer.layer.name());
  return out;
}

Shape output_of(const Layer& layer, const Shape& input) {
  return plan_network({layer}, input).back().output;
}

Network network(const std::vector<Layer>& layers, const Shape& input, uint64_t seed = 1) {
  return Network(plan_network(layers, input), at::kFloat, at::kCPU, seed);
}

std::string error_of(const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

void expect_error(const std::vector<Layer>& layers, const Shape& input, const std::string& problem,
                  const std::string& hint) {
  const std::string text = error_of([&] { plan_network(layers, input); });
  EXPECT_NE(text.find(problem), std::string::npos) << text;
  EXPECT_NE(text.find(hint), std::string::npos) << text;
}

TEST(PlanNetwork, NamesLayersAsKerasDoes) {
  const auto plan = plan_network({Conv2D(4, 3), Conv2D(4, 3), MaxPooling2D(), BatchNormalization(),
                                  GlobalAveragePooling2D(), Dense(3), Activation("relu"), Dense(2)},
                                 {28, 28, 1});
  EXPECT_EQ(names(plan), (std::vector<std::string>{
                             "conv2d", "conv2d_1", "max_pooling2d", "batch_normalization",
                             "global_average_pooling2d", "dense", "activation", "dense_1"}));
  EXPECT_EQ(names(plan_network({LSTM(4)}, {5, 2})).front(), "lstm");
  EXPECT_EQ(names(plan_network({DepthwiseConv2D(3)}, {5, 5, 2})).front(), "depthwise_conv2d");
}

TEST(PlanNetwork, NumbersAroundNamesThatAreGiven) {
  const auto plan = plan_network({Dense(4), Dense(4), Dense(4, {.name = "dense_1"})}, {2});
  EXPECT_EQ(names(plan), (std::vector<std::string>{"dense", "dense_2", "dense_1"}));
}

TEST(PlanNetwork, RefusesTheSameNameTwice) {
  expect_error({Dense(4, {.name = "a"}), Dense(4, {.name = "a"})}, {2}, "two layers are called 'a'",
               "its own name");
}

TEST(PlanNetwork, InfersShapesOfImages) {
  const Shape image{32, 30, 8};
  EXPECT_EQ(output_of(Conv2D(4, 3), image), (Shape{30, 28, 4}));
  EXPECT_EQ(output_of(Conv2D(4, {5, 3}, {.strides = 2, .padding = "same"}), image),
            (Shape{16, 15, 4}));
  EXPECT_EQ(output_of(Conv2D(4, 3, {.dilation = 4}), image), (Shape{24, 22, 4}));
  EXPECT_EQ(output_of(DepthwiseConv2D(3, {.depth_multiplier = 2}), image), (Shape{30, 28, 16}));
  EXPECT_EQ(output_of(MaxPooling2D(3), image), (Shape{10, 10, 8}));
  EXPECT_EQ(output_of(AveragePooling2D(3, {.padding = "same"}), image), (Shape{11, 10, 8}));
  EXPECT_EQ(output_of(Dense(3), image), (Shape{32, 30, 3}));
  EXPECT_EQ(output_of(ZeroPadding2D({1, 2}), image), (Shape{34, 34, 8}));
  EXPECT_EQ(output_of(Flatten(), image), (Shape{32 * 30 * 8}));
  EXPECT_EQ(output_of(Reshape({kAny, 8}), image), (Shape{960, 8}));
}

TEST(PlanNetwork, InfersShapesOfSequences) {
  EXPECT_EQ(output_of(Embedding(100, 16), {kAny}), (Shape{kAny, 16}));
  EXPECT_EQ(output_of(LSTM(8, {.return_sequences = true}), {kAny, 16}), (Shape{kAny, 8}));
  EXPECT_EQ(output_of(GRU(8, {.bidirectional = true}), {7, 16}), (Shape{16}));
  EXPECT_EQ(output_of(Dense(3), {kAny, 16}), (Shape{kAny, 3}));
  EXPECT_EQ(output_of(LayerNormalization(), {kAny, 16}), (Shape{kAny, 16}));
}

TEST(PlanNetwork, InputFixesTheShapeAndIsNoLayer) {
  const auto plan = plan_network({Input({kAny, 4}), LSTM(3)}, {12, 4});
  ASSERT_EQ(plan.size(), 1u);
  EXPECT_EQ(plan[0].input, (Shape{kAny, 4}));
  EXPECT_EQ(plan_network({Input({4}), Dense(3)}, {}).front().input, (Shape{4}));
  expect_error({Input({4}), Dense(3)}, {5},
               "the model's Input has shape 4, but the samples have shape 5", "Input");
  expect_error({Dense(3), Input({3})}, {5}, "Input must be the first layer",
               "move it to the front");
  expect_error({Input({3})}, {}, "the model has no layers", "Dense");
}

TEST(PlanNetwork, SaysWhichLayerDoesNotFitAndWhatWould) {
  expect_error({Conv2D(4, 3)}, {784},
               "conv2d: Conv2D needs input of shape height x width x channels, but got 784",
               "add Reshape({28, 28, 1}) in front");
  expect_error({MaxPooling2D()}, {3072}, "got 3072", "Reshape({32, 32, 3})");
  expect_error({Conv2D(4, 3)}, {28, 28}, "got 28x28", "Reshape({28, 28, 1})");
  expect_error({Conv2D(4, 3), Conv2D(4, 5, {.name = "second"})}, {6, 6, 1},
               "second: Conv2D's window of 5x5 is larger than the image, 4x4x4", "same");
  expect_error({LSTM(4), LSTM(4)}, {5, 2},
               "lstm_1: LSTM needs input of shape steps x features, but got 4",
               "return_sequences = true");
  expect_error({Conv2D(4, 3, {.groups = 3})}, {8, 8, 4}, "4 channels and 4 filters among 3 groups",
               "choose .groups");
  expect_error({Reshape({5, 5})}, {24}, "cannot turn 24 into 5x5: 24 values are not 25",
               "stay the same");
  expect_error({Flatten(), Dense(3)}, {kAny, 4}, "dense: Dense must know", "kAny");
}

TEST(PlanNetwork, ErrorsInsideABlockNameTheWholeWay) {
  expect_error({Block({Dense(4), Conv2D(2, 3)}, "head")}, {9}, "head: conv2d: Conv2D needs", "");
  expect_error({Residual({Dense(4)})}, {9},
               "residual: Residual cannot add an output of shape 4 to a shortcut of shape 9",
               "shortcut");
}

TEST(PlanNetwork, CountsTheWeightsOfWellKnownNetworks) {
  const auto count = [](const std::vector<Layer>& layers, bool trainable) {
    int64_t sum = 0;
    for (const LayerPlan& layer : plan_network(layers, {})) sum += layer.weight_count(trainable);
    return sum;
  };
  EXPECT_EQ(count(applications::vgg16_layers(), true), 138'357'544);
  EXPECT_EQ(count(applications::resnet18_layers(), true), 11'689'512);
  EXPECT_EQ(count(applications::resnet50_layers(), true), 25'557'032);
  EXPECT_EQ(count(applications::resnet50_layers(), false), 53'120);
}

TEST(Layers, RefuseOptionsWithoutMeaning) {
  EXPECT_THROW(Dense(0), Error);
  EXPECT_THROW(Conv2D(0, 3), Error);
  EXPECT_THROW(Conv2D(4, 0), Error);
  EXPECT_THROW(Conv2D(4, 3, {.groups = 0}), Error);
  EXPECT_THROW(MaxPooling2D(2, {.strides = -1}), Error);
  EXPECT_THROW(Dropout(1), Error);
  EXPECT_THROW(Normalization({}), Error);
  EXPECT_THROW(Block({}), Error);
  EXPECT_THROW(LSTM(4, {.bias_initializer = "he_normal"}), Error);
}

TEST(Network, DrawsTheSameWeightsOfTheSameSeed) {
  const std::vector<Layer> layers{Dense(8), LSTM(4)};
  const Network a = network(layers, {5, 6}, 7), b = network(layers, {5, 6}, 7);
  const Network other = network(layers, {5, 6}, 8);
  for (size_t i = 0; i < a.weights().size(); ++i)
    EXPECT_TRUE(at::equal(a.weights()[i].value, b.weights()[i].value)) << a.weights()[i].name;
  EXPECT_FALSE(at::equal(a.weights()[0].value, other.weights()[0].value));
}

TEST(Network, ALayerAddedAtTheEndLeavesTheOthersAsTheyWere) {
  const Network one = network({Dense(8)}, {6}), two = network({Dense(8), Dense(8)}, {6});
  EXPECT_TRUE(at::equal(one.weights()[0].value, two.weights()[0].value));
  const Network square = network({Dense(6), Dense(6)}, {6});
  EXPECT_FALSE(at::equal(square.weights()[0].value, square.weights()[2].value));
}

TEST(Network, NamesWeightsAfterTheirLayer) {
  const Network net = network({Dense(3), Block({Dense(3), BatchNormalization()}, "tail")}, {6});
  std::vector<std::string> found;
  for (const NamedWeight& weight : net.weights()) found.push_back(weight.name);
  EXPECT_EQ(found,
            (std::vector<std::string>{
                "dense.weight", "dense.bias", "tail.dense.weight", "tail.dense.bias",
                "tail.batch_normalization.weight", "tail.batch_normalization.bias",
                "tail.batch_normalization.running_mean", "tail.batch_normalization.running_var"}));
  EXPECT_EQ(trainable(net.weights()).size(), 6u);
  for (const NamedWeight& weight : net.weights())
    EXPECT_EQ(weight.value.requires_grad(), weight.trainable) << weight.name;
}

TEST(Network, ImagesComeInAndGoOutChannelsLast) {
  const Network net = network({Conv2D(5, 3, {.padding = "same"})}, {8, 6, 3});
  const at::Tensor out = net.forward(at::zeros({2, 8, 6, 3}, at::kByte), false);
  EXPECT_EQ(out.sizes(), (at::IntArrayRef{2, 8, 6, 5}));
  EXPECT_TRUE(out.is_contiguous());
}

TEST(Network, FlattenIsAViewInKerasOrder) {
  const Network net = network({Flatten()}, {2, 3, 4});
  const at::Tensor batch = at::arange(24, at::kFloat).reshape({1, 2, 3, 4});
  const at::Tensor out = net.forward(batch, false);
  EXPECT_TRUE(at::equal(out, batch.reshape({1, 24})));
  EXPECT_EQ(out.data_ptr(), batch.data_ptr());
}

TEST(Network, SaysThatABatchIsChannelsFirst) {
  const Network net = network({Conv2D(4, 3)}, {32, 30, 3});
  const std::string text = error_of([&] { net.forward(at::zeros({2, 3, 32, 30}), false); });
  EXPECT_NE(
      text.find("needs samples of shape 32x30x3, but the batch holds 2 samples of shape 3x32x30"),
      std::string::npos);
  EXPECT_NE(text.find("leave out .layout(Layout::kCHW)"), std::string::npos) << text;
}

TEST(Network, TakesSequencesOfAnyLengthWhenInputSaysSo) {
  const Network net = network({Input({kAny}), Embedding(10, 4), LSTM(3), Dense(2)}, {});
  for (const int64_t steps : {3, 9})
    EXPECT_EQ(net.forward(at::ones({2, steps}, at::kLong), false).sizes(), (at::IntArrayRef{2, 2}));
  const std::string text = error_of([&] { net.forward(at::full({2, 3}, 10, at::kLong), false); });
  EXPECT_NE(text.find("the batch has index 10"), std::string::npos) << text;
}

TEST(Network, StopsBeforeTheLastActivationWhenAskedForLogits) {
  for (const std::vector<Layer>& layers :
       {std::vector<Layer>{Dense(4, {.activation = "softmax"})},
        std::vector<Layer>{Dense(4), Activation("softmax")},
        std::vector<Layer>{Block({Dense(4, {.activation = "softmax"})})}}) {
    const Network net = network(layers, {6});
    EXPECT_EQ(net.last_activation(), Activation("softmax"));
    const at::Tensor x = at::rand({3, 6});
    const at::Tensor logits = net.forward(x, false, true);
    EXPECT_TRUE(at::allclose(at::softmax(logits, -1), net.forward(x, false)));
    EXPECT_FALSE(at::allclose(logits.sum(-1), at::ones({3})));
  }
}

TEST(Network, SumsThePenaltiesOfItsWeights) {
  EXPECT_FALSE(network({Dense(4)}, {6}).regularization().defined());
  const Network net = network({Dense(4, {.kernel_initializer = Initializer::constant(-2),
                                         .bias_initializer = "ones",
                                         .kernel_regularizer = {.l1 = 0.5, .l2 = 0.25},
                                         .bias_regularizer = {.l2 = 1}})},
                              {3});
  EXPECT_FLOAT_EQ(net.regularization().item<float>(), 12 * (0.5 * 2 + 0.25 * 4) + 4);
}

TEST(Network, AForgetGateBeginsAtOne) {
  const Network net = network({LSTM(2)}, {5, 3});
  EXPECT_TRUE(
      at::equal(net.weights()[2].value.detach(), at::tensor({0, 0, 1, 1, 0, 0, 0, 0}, at::kFloat)));
}

TEST(BatchNormalization, LearnsFromABatchOfOneValue) {
  const Network net = network({BatchNormalization()}, {2});
  const at::Tensor out = net.forward(at::full({1, 2}, 5.f), true);
  EXPECT_LT(out.abs().max().item<float>(), 1e-4);
  EXPECT_TRUE(at::allclose(net.weights()[2].value, at::full({2}, 0.05f)));
  EXPECT_TRUE(at::allclose(net.weights()[3].value, at::full({2}, 0.99f)));
}

}  // namespace
}  // namespace headway
