#include "headway/train/learn/loss_function.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "headway/core/error.h"

namespace headway {
namespace {

at::Tensor row(std::initializer_list<double> values) {
  return at::tensor(values, at::kDouble).unsqueeze(0);
}

at::Tensor column(std::initializer_list<double> values) {
  return at::tensor(values, at::kDouble).unsqueeze(1);
}

double value(const Loss& loss, const at::Tensor& labels, const at::Tensor& output,
             Activation missing = {}, const at::Tensor& weights = {}) {
  return compute_loss(loss, labels, output, missing, weights).item<double>();
}

at::Tensor gradient(const Loss& loss, const at::Tensor& labels, at::Tensor output,
                    Activation missing = {}) {
  output = output.clone().requires_grad_();
  compute_loss(loss, labels, output, missing).backward();
  return output.grad();
}

TEST(ComputeLoss, AgreesWithPaper) {
  EXPECT_DOUBLE_EQ(value(MeanSquaredError(), row({1, 2}), row({2, 4})), 2.5);
  EXPECT_DOUBLE_EQ(value(MeanAbsoluteError(), row({1, 2}), row({2, 4})), 1.5);
  EXPECT_DOUBLE_EQ(value(Huber(1), row({0, 0}), row({0.5, 3})), (0.125 + 2.5) / 2);
  EXPECT_DOUBLE_EQ(value(BinaryCrossentropy(), row({1, 0}), row({0.5, 0.5})), std::log(2));
  EXPECT_DOUBLE_EQ(value(CategoricalCrossentropy(), row({0, 1}), row({0.75, 0.25})), std::log(4));
  EXPECT_DOUBLE_EQ(value(SparseCategoricalCrossentropy(), at::tensor({1}), row({0.75, 0.25})),
                   std::log(4));
}

TEST(ComputeLoss, WeightsDoNotChangeTheDivisor) {
  const at::Tensor labels = column({0, 0}), output = column({1, 3});
  EXPECT_DOUBLE_EQ(value(MeanSquaredError(), labels, output, {}, at::tensor({1.0, 0.0})), 0.5);
  EXPECT_DOUBLE_EQ(value(MeanSquaredError(), labels, output, {}, at::tensor({2.0, 2.0})), 10);
}

TEST(ComputeLoss, AWeightCountsForAllStepsOfItsSample) {
  const at::Tensor labels = at::zeros({2, 3}, at::kLong);
  const at::Tensor output = at::full({2, 3, 4}, 0.25, at::kDouble);
  EXPECT_NEAR(value(SparseCategoricalCrossentropy(), labels, output, {}, at::tensor({1.0, 0.0})),
              std::log(4) / 2, 1e-12);
}

TEST(ComputeLoss, LogitsAndProbabilitiesAgree) {
  const at::Tensor x = at::randn({6, 5}, at::kDouble), labels = at::arange(6).remainder(5);
  const at::Tensor softmax = x.softmax(-1), answers = labels.eq(0).unsqueeze(-1);
  const Loss sparse = SparseCategoricalCrossentropy({.label_smoothing = 0.1});
  EXPECT_NEAR(value(sparse, labels, softmax), value(sparse, labels, x, "softmax"), 1e-12);
  const at::Tensor one = x.narrow(1, 0, 1);
  EXPECT_NEAR(value(BinaryCrossentropy(), answers, one.sigmoid()),
              value(BinaryCrossentropy(), answers, one, "sigmoid"), 1e-12);
}

TEST(ComputeLoss, AFarAwayLogitStillHasAGradient) {
  const Loss loss = SparseCategoricalCrossentropy();
  const at::Tensor x = row({80, -80}), label = at::tensor({1});
  EXPECT_EQ(gradient(loss, label, x.softmax(-1)).abs().sum().item<double>(), 0);
  EXPECT_NEAR(gradient(loss, label, x, "softmax")[0][1].item<double>(), -1, 1e-12);
}

TEST(ComputeLoss, AnActivationThatTheLossDoesNotReplaceIsApplied) {
  const at::Tensor x = row({1, 2, 3}), labels = row({0, 0, 1});
  EXPECT_DOUBLE_EQ(value(MeanSquaredError(), labels, x, "softmax"),
                   value(MeanSquaredError(), labels, x.softmax(-1)));
}

TEST(ComputeLoss, TheGpuAgrees) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU";
  const at::Tensor x = at::randn({6, 5}, at::kDouble), labels = at::arange(6).remainder(5);
  for (const Loss& loss : {SparseCategoricalCrossentropy({.label_smoothing = 0.1}),
                           SparseCategoricalCrossentropy({.from_logits = true})})
    EXPECT_NEAR(value(loss, labels, x, "softmax"), value(loss, labels.cuda(), x.cuda(), "softmax"),
                1e-12);
  for (const Loss& loss : {MeanSquaredError(), MeanAbsoluteError(), Huber(), BinaryCrossentropy()})
    EXPECT_NEAR(value(loss, x.sigmoid(), x, "sigmoid"),
                value(loss, x.sigmoid().cuda(), x.cuda(), "sigmoid"), 1e-12);
}

TEST(ComputeLoss, ANanStaysOne) {
  const at::Tensor broken = row({NAN, 0.5});
  EXPECT_TRUE(std::isnan(value(BinaryCrossentropy(), row({1, 0}), broken)));
  EXPECT_TRUE(std::isnan(value(SparseCategoricalCrossentropy(), at::tensor({1}), broken)));
}

TEST(ComputeLoss, HalfFloatsAreSummedInSinglePrecision) {
  const at::Tensor labels = at::zeros({70000, 1}), output = at::ones({70000, 1}, at::kBFloat16);
  const at::Tensor loss = compute_loss(MeanSquaredError(), labels, output, {});
  EXPECT_EQ(loss.scalar_type(), at::kFloat);
  EXPECT_EQ(loss.item<float>(), 1);
}

TEST(ComputeLoss, CustomGivesOneNumberPerSampleOrOneForAll) {
  Loss loss{.kind = Loss::Kind::kCustom};
  loss.custom = [](const at::Tensor& t, const at::Tensor& y) { return (y - t).sum(-1); };
  EXPECT_DOUBLE_EQ(value(loss, column({0, 0}), column({1, 3})), 2);
  EXPECT_DOUBLE_EQ(value(loss, column({0, 0}), column({1, 3}), {}, at::tensor({0.0, 1.0})), 1.5);
  loss.custom = [](const at::Tensor&, const at::Tensor& y) { return y.max(); };
  EXPECT_DOUBLE_EQ(value(loss, column({0, 0}), column({1, 3})), 3);
}

TEST(ComputeLoss, TellsWhichLossFitsTheTargets) {
  const auto hint = [](const Loss& loss, const at::Tensor& labels, const at::Tensor& output) {
    try {
      value(loss, labels, output);
    } catch (const Error& e) {
      return e.what() + std::string();
    }
    return std::string();
  };
  const at::Tensor output = at::rand({4, 3}, at::kDouble);
  EXPECT_NE(hint(CategoricalCrossentropy(), at::arange(4), output).find("Sparse"), -1ul);
  EXPECT_NE(hint(SparseCategoricalCrossentropy(), output, output).find("one-hot"), -1ul);
  EXPECT_NE(hint(MeanSquaredError(), at::rand({4, 2}), output).find("4x2"), -1ul);
}

TEST(WantsLogits, OnlyWhereTheFusedFormMeansTheSame) {
  EXPECT_TRUE(wants_logits(SparseCategoricalCrossentropy(), "softmax"));
  EXPECT_TRUE(wants_logits(BinaryCrossentropy(), "sigmoid"));
  EXPECT_FALSE(wants_logits(BinaryCrossentropy(), "softmax"));
  EXPECT_FALSE(wants_logits(CategoricalCrossentropy(), "sigmoid"));
  EXPECT_FALSE(wants_logits(MeanSquaredError(), "softmax"));
  EXPECT_FALSE(wants_logits(BinaryCrossentropy({.from_logits = true}), "linear"));
}

}  // namespace
}  // namespace headway
