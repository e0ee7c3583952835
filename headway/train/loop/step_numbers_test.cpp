#include "headway/train/loop/step_numbers.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "headway/train/layers.h"

namespace headway {
namespace {

Network network(const std::vector<Layer>& layers, const Shape& input) {
  return Network(plan_network(layers, input), at::kFloat, at::kCPU, 1);
}

// One measured step of plain gradient descent.
NumbersReading look(const Network& net, const at::Tensor& x, double rate) {
  StepNumbers numbers(net.weights(), &net.plan());
  EXPECT_TRUE(numbers.measure(1));
  net.forward(x, true, false, &numbers).square().mean().backward();
  numbers.before_update();
  const c10::NoGradGuard guard;
  for (const NamedWeight& w : net.weights()) {
    at::Tensor value = w.value;
    if (value.grad().defined()) value.sub_(value.grad(), rate);
  }
  return numbers.after_update();
}

double rms(const at::Tensor& t) { return std::sqrt(t.detach().square().mean().item<double>()); }

TEST(StepNumbers, MeasureGradientWeightAndUpdateOfEachWeight) {
  const Network net = network({Dense(8), Dense(2)}, {4});
  const at::Tensor weight = net.weights()[0].value;
  const double before = rms(weight);
  const NumbersReading seen = look(net, at::randn({16, 4}), 0.5);
  ASSERT_EQ(seen.gradients.size(), 4u);
  EXPECT_NEAR(seen.gradients[0], rms(weight.grad()), 1e-3 * seen.gradients[0]);
  EXPECT_NEAR(seen.weights[0], before, 1e-3 * before);
  EXPECT_NEAR(seen.updates[0], 0.5 * seen.gradients[0], 1e-3 * seen.updates[0]);
}

TEST(StepNumbers, ReadOnlyAPartOfLargeWeights) {
  const Network net = network({Dense(1024), Dense(1)}, {1024});
  const at::Tensor weight = net.weights()[0].value;
  const double whole = rms(weight);
  const NumbersReading seen = look(net, at::randn({4, 1024}), 1e-3);
  EXPECT_NEAR(seen.weights[0], whole, 0.02 * whole);
}

TEST(StepNumbers, CountReluUnitsThatNeverFire) {
  const Network net = network(
      {Dense(4, {.activation = "relu", .bias_initializer = Initializer::constant(-100)}),
       Dense(4, {.activation = "relu", .bias_initializer = Initializer::constant(100)}), Dense(1)},
      {3});
  const NumbersReading seen = look(net, at::randn({16, 3}), 0);
  EXPECT_EQ(seen.dead_units, (std::vector<double>{1, 0, -1}));
}

TEST(StepNumbers, SeeARunOfZerosThroughPoolingToo) {  // which relu is moved after
  const Network net = network(
      {Conv2D(4, 3, {.activation = "relu", .bias_initializer = Initializer::constant(-100)}),
       MaxPooling2D(2), Flatten(), Dense(1)},
      {8, 8, 3});
  EXPECT_EQ(look(net, at::randn({2, 8, 8, 3}), 0).dead_units[0], 1);
}

TEST(StepNumbers, TellWhatTheFirstLayerWithWeightsIsGiven) {
  const at::Tensor bytes = at::full({64, 4}, 100.0) + at::randn({64, 4});
  const Network plain = network({Dense(2)}, {4});
  EXPECT_NEAR(look(plain, bytes, 0).input_mean, 100, 1);
  const Network scaled = network({Rescaling(1.0 / 100), Dense(2)}, {4});
  EXPECT_NEAR(look(scaled, bytes, 0).input_mean, 1, 0.1);
  const Network normalised = network({BatchNormalization(), Dense(2)}, {4});
  EXPECT_EQ(look(normalised, bytes, 0).input_std, -1);
}

TEST(StepNumbers, FindUnitsThatAreInitialisedAlike) {
  const Network net = network({Dense(4, {.kernel_initializer = "zeros"}), Dense(4)}, {4});
  const auto facts = StepNumbers(net.weights(), &net.plan()).weights();
  ASSERT_EQ(facts.size(), 4u);
  EXPECT_TRUE(facts[0].identical_units);
  EXPECT_FALSE(facts[2].identical_units);
  EXPECT_TRUE(facts[0].kernel);
  EXPECT_FALSE(facts[1].kernel);
}

TEST(StepNumbers, SayWhichWeightGotNoGradient) {
  const Network net = network({Dense(4), Dense(2)}, {4});
  StepNumbers numbers(net.weights(), &net.plan());
  ASSERT_TRUE(numbers.measure(1));
  net.weights()[0].value.sum().backward();
  numbers.before_update();
  const NumbersReading seen = numbers.after_update();
  EXPECT_GT(seen.gradients[0], 0);
  EXPECT_EQ(seen.gradients[2], -1);
}

TEST(StepNumbers, MeasureRarelyAfterTheFirstSteps) {
  const Network net = network({Dense(512), Dense(2)}, {512});
  StepNumbers numbers(net.weights(), &net.plan());
  int measured = 0;
  for (int step = 1; step <= 50; ++step) {
    if (!numbers.measure(step)) continue;
    ++measured;
    numbers.before_update();
    numbers.after_update();
  }
  EXPECT_EQ(measured, 3);  // the first ones, the next a tenth of a second later at the earliest
}

TEST(BadNumbers, ComeFromTheLayerThatGaveThem) {
  const Network net = network({Dense(4, {.name = "first"}), Dense(4, {.name = "second"})}, {4});
  const float big = std::numeric_limits<float>::max();
  {
    const c10::NoGradGuard guard;
    at::Tensor value = net.weights()[2].value;
    value.fill_(big);
  }
  EXPECT_NE(find_nonfinite_origin(net, at::ones({2, 4}) * 1e10).find("second"), std::string::npos);
}

TEST(BadNumbers, InAWeightAreNamed) {
  const Network net = network({Dense(4, {.name = "first"})}, {4});
  {
    const c10::NoGradGuard guard;
    at::Tensor value = net.weights()[0].value;
    value[0][0] = std::numeric_limits<float>::quiet_NaN();
  }
  EXPECT_NE(find_nonfinite_origin(net, at::ones({2, 4})).find("first.weight"), std::string::npos);
  EXPECT_EQ(nonfinite_weights(net.weights()), std::vector<std::string>{"first.weight"});
}

TEST(BadNumbers, LookedForLeaveRunningMeansAlone) {
  const Network net = network({BatchNormalization(), Dense(2)}, {4});
  const at::Tensor mean = net.weights()[2].value.clone();
  EXPECT_NE(find_nonfinite_origin(net, at::randn({8, 4}) + 5).find("the loss itself"),
            std::string::npos);
  EXPECT_TRUE(net.weights()[2].value.equal(mean));
}

}  // namespace
}  // namespace headway
