#include "headway/train/learn/optimizer_state.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>

namespace headway {
namespace {

const std::vector<Optimizer>& all() {
  static const std::vector<Optimizer> optimizers = {
      SGD(0.1),
      SGD({.momentum = 0.9, .weight_decay = 0.1}),
      SGD({.momentum = 0.9, .nesterov = true, .clip = {.by_value = 0.5}}),
      Adam(0.1),
      AdamW({.amsgrad = true, .clip = {.by_global_norm = 1}}),
      RMSprop(0.1),
      RMSprop({.momentum = 0.9, .clip = {.by_norm = 1}}),
      RMSprop({.centered = true}),
      RMSprop({.momentum = 0.5, .centered = true, .weight_decay = 0.01}),
  };
  return optimizers;
}

// Five steps from fixed weights with fixed gradients.
std::vector<at::Tensor> trained(const Optimizer& optimizer, std::vector<at::Tensor> weights) {
  at::manual_seed(1);
  OptimizerState state(optimizer, weights);
  for (int step = 0; step < 5; ++step) {
    for (at::Tensor& w : weights)
      w.mutable_grad() = at::randn(w.sizes(), at::kDouble).to(w.options());
    state.step();
  }
  return weights;
}

std::vector<at::Tensor> fresh(at::ScalarType type = at::kFloat) {
  std::vector<at::Tensor> weights;
  at::manual_seed(0);
  for (std::vector<int64_t> shape : {std::vector<int64_t>{300, 401}, {7}, {8, 5, 3, 3}, {}, {0, 4}})
    weights.push_back(at::randn(shape, at::kDouble).to(type));
  return weights;
}

// The same values where only the foreach kernels can take them.
std::vector<at::Tensor> with_gaps(const std::vector<at::Tensor>& weights) {
  std::vector<at::Tensor> apart;
  for (const at::Tensor& w : weights) apart.push_back(at::stack({w, w}, -1).select(-1, 0));
  return apart;
}

TEST(OptimizerState, ThreadsChangeNoBit) {
  const int before = at::get_num_threads();
  for (const Optimizer& optimizer : all()) {
    at::set_num_threads(1);
    const auto alone = trained(optimizer, fresh());
    at::set_num_threads(3);
    const auto shared = trained(optimizer, fresh());
    for (size_t i = 0; i < alone.size(); ++i)
      EXPECT_TRUE(at::equal(alone[i], shared[i])) << optimizer.describe() << ", weight " << i;
  }
  at::set_num_threads(before);
}

TEST(OptimizerState, TheFusedPassAndTheForeachKernelsAgree) {
  for (const Optimizer& optimizer : all()) {
    const auto fused = trained(optimizer, fresh(at::kDouble));
    const auto foreach = trained(optimizer, with_gaps(fresh(at::kDouble)));
    for (size_t i = 0; i < fused.size(); ++i)
      EXPECT_TRUE(at::allclose(fused[i], foreach[i], 1e-9, 1e-11))
          << optimizer.describe() << ", weight " << i;
  }
}

TEST(OptimizerState, TheGpuAgrees) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU";
  for (const Optimizer& optimizer : all()) {
    auto weights = fresh(at::kDouble);
    const auto here = trained(optimizer, fresh(at::kDouble));
    for (at::Tensor& w : weights) w = w.cuda();
    const auto there = trained(optimizer, weights);
    for (size_t i = 0; i < here.size(); ++i)
      EXPECT_TRUE(at::allclose(here[i], there[i].cpu(), 1e-9, 1e-11)) << optimizer.describe();
  }
}

TEST(OptimizerState, MemoryFormatDoesNotMatter) {
  for (const Optimizer& optimizer : all()) {
    auto weights = fresh();
    for (at::Tensor& w : weights)
      if (w.dim() == 4) w = w.contiguous(at::MemoryFormat::ChannelsLast);
    const OptimizerState state(optimizer, weights);
    for (const auto& [name, slot] : state.slots()) {
      if (slot.dim() == 4) {
        EXPECT_EQ(slot.strides(), weights[2].strides()) << name;
      }
    }
    const auto moved = trained(optimizer, weights), plain = trained(optimizer, fresh());
    EXPECT_TRUE(at::equal(moved[2], plain[2])) << optimizer.describe();
  }
}

TEST(OptimizerState, HalfFloatsAreSteppedToo) {
  for (const Optimizer& optimizer : all()) {
    const auto half = trained(optimizer, fresh(at::kBFloat16)), full = trained(optimizer, fresh());
    const double apart = (half[0].to(at::kFloat) - full[0]).abs().mean().item<double>();
    EXPECT_LT(apart, 0.03) << optimizer.describe();
  }
}

TEST(OptimizerState, AWeightWithoutGradientStays) {
  at::Tensor moved = at::ones({3}), still = at::ones({3});
  OptimizerState state(SGD({.weight_decay = 0.5}), {moved, still});
  moved.mutable_grad() = at::ones({3});
  state.step(1);
  EXPECT_EQ(moved[0].item<float>(), -0.5);
  EXPECT_EQ(still[0].item<float>(), 1);
  EXPECT_EQ(state.iterations(), 1);
}

TEST(OptimizerState, ANanGradientIsNotClippedAway) {
  at::Tensor w = at::ones({9});
  OptimizerState state(SGD({.clip = {.by_value = 1}}), {w});
  w.mutable_grad() = at::full({9}, NAN);
  state.step();
  EXPECT_TRUE(w.isnan().all().item<bool>());
}

TEST(OptimizerState, TellsTheGlobalNormThatItClipped) {
  at::Tensor a = at::zeros({1}), b = at::zeros({2});
  OptimizerState state(SGD({.learning_rate = 1, .clip = {.by_global_norm = 1}}), {a, b});
  EXPECT_TRUE(std::isnan(state.last_global_norm()));
  a.mutable_grad() = at::full({1}, 3.0f);
  b.mutable_grad() = at::tensor({0.0f, 4.0f});
  state.step();
  EXPECT_EQ(state.last_global_norm(), 5);
  EXPECT_FLOAT_EQ(a.item<float>(), -0.6f);
  EXPECT_EQ(a.grad().item<float>(), 3) << "gradients are only read";
}

TEST(OptimizerState, FollowsTheScheduleTimesTheScale) {
  at::Tensor w = at::zeros({1});
  OptimizerState state(SGD({.learning_rate = Schedule::step(1, {0}, 0.1)}), {w});
  w.mutable_grad() = at::ones({1});
  state.step();
  EXPECT_FLOAT_EQ(w.item<float>(), -1);
  state.set_scale(0.5);
  EXPECT_DOUBLE_EQ(state.learning_rate(), 0.05);
  state.step();
  EXPECT_FLOAT_EQ(w.item<float>(), -1.05f);
  state.step(2);
  EXPECT_FLOAT_EQ(w.item<float>(), -3.05f);
}

TEST(OptimizerState, GoesOnFromItsSlots) {
  const auto step = [](OptimizerState& state, at::Tensor& w, double g) {
    w.mutable_grad() = at::full({3}, g);
    state.step();
  };
  at::Tensor a = at::zeros({3}), b = at::zeros({3});
  OptimizerState first(Adam({.amsgrad = true}), {a}), second(Adam({.amsgrad = true}), {b});
  for (double g : {1.0, -2.0, 3.0}) step(first, a, g);
  const auto from = first.slots(), to = second.slots();
  ASSERT_EQ(from.size(), 3);
  EXPECT_EQ(from[2].first, "0.velocity_hat");
  for (size_t i = 0; i < from.size(); ++i) at::Tensor(to[i].second).copy_(from[i].second);
  b.copy_(a);
  second.restore(first.iterations(), first.scale());
  step(first, a, 0.5);
  step(second, b, 0.5);
  EXPECT_TRUE(at::equal(a, b));
}

TEST(OptimizerState, ClearedGradientsAreGone) {
  at::Tensor w = at::zeros({1});
  OptimizerState state(SGD(), {w});
  w.mutable_grad() = at::ones({1});
  state.zero_grad();
  EXPECT_FALSE(w.grad().defined());
}

TEST(OptimizerState, AutogradNoticesThatTheWeightsMoved) {
  at::Tensor w = at::ones({2}).requires_grad_();
  OptimizerState state(SGD(), {w});
  const at::Tensor loss = (w * w).sum();
  w.mutable_grad() = at::ones({2});
  state.step();
  EXPECT_THROW(loss.backward(), c10::Error);
}

}  // namespace
}  // namespace headway
