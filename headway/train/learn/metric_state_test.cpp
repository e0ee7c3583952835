#include "headway/train/learn/metric_state.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace headway {
namespace {

at::Tensor outputs(std::initializer_list<double> values, int64_t classes) {
  return at::tensor(values, at::kDouble).view({-1, classes});
}

double once(const Metric& metric, const Loss& loss, const at::Tensor& labels,
            const at::Tensor& output, Activation missing = {}) {
  MetricState state(metric, loss);
  state.update(labels, output, missing);
  return state.value();
}

TEST(MetricState, IsTheMeanOverAllSamplesNotOverBatches) {
  MetricState accuracy(Accuracy(), SparseCategoricalCrossentropy());
  EXPECT_EQ(accuracy.value(), 0);
  accuracy.update(at::tensor({1}), outputs({0.1, 0.9}, 2), {});
  EXPECT_EQ(accuracy.value(), 1);
  accuracy.update(at::tensor({1, 1, 0}), outputs({1, 0, 1, 0, 0, 1}, 2), {});
  EXPECT_EQ(accuracy.value(), 0.25);
  accuracy.reset();
  EXPECT_EQ(accuracy.value(), 0);
}

TEST(MetricState, WeightsCountInTheDivisorToo) {
  MetricState accuracy(Accuracy(), SparseCategoricalCrossentropy());
  accuracy.update(at::tensor({0, 1}), outputs({1, 0, 1, 0}, 2), {}, at::tensor({3.0, 1.0}));
  EXPECT_EQ(accuracy.value(), 0.75);
}

TEST(MetricState, GoesOnFromItsSums) {
  MetricState a(MSE(), MeanSquaredError()), b(MSE(), MeanSquaredError());
  a.update(at::zeros({3, 1}), at::ones({3, 1}), {});
  b.restore(a.sums());
  EXPECT_EQ(b.value(), 1);
  for (MetricState* m : {&a, &b}) m->update(at::zeros({1, 1}), at::full({1, 1}, 3.0), {});
  EXPECT_EQ(b.value(), a.value());
  EXPECT_EQ(b.value(), 3);
}

TEST(MetricState, TheThresholdIsOneHalfForProbabilitiesAndZeroForLogits) {
  const at::Tensor labels = at::tensor({1, 0, 1}), logits = outputs({0.2, -3, -0.1}, 1);
  EXPECT_DOUBLE_EQ(once(Accuracy(), BinaryCrossentropy({.from_logits = true}), labels, logits),
                   2.0 / 3);
  EXPECT_DOUBLE_EQ(once(Accuracy(), BinaryCrossentropy(), labels, logits, "sigmoid"), 2.0 / 3);
  EXPECT_DOUBLE_EQ(once(Accuracy(), BinaryCrossentropy(), labels, logits.sigmoid()), 2.0 / 3);
  EXPECT_DOUBLE_EQ(once(Accuracy(0.99), BinaryCrossentropy(), labels, logits, "sigmoid"), 1.0 / 3);
}

TEST(MetricState, SeveralAnswersAreJudgedOneByOne) {
  const at::Tensor labels = outputs({1, 1, 0, 0}, 4), output = outputs({0.9, 0.1, 0.1, 0.2}, 4);
  EXPECT_EQ(once(Accuracy(), BinaryCrossentropy(), labels, output), 0.75);
  EXPECT_EQ(once(Accuracy(), CategoricalCrossentropy(), labels, output), 1);
}

TEST(MetricState, EqualOutputsShareTheBetterRank) {
  const Loss loss = SparseCategoricalCrossentropy();
  const at::Tensor output = outputs({0.4, 0.2, 0.2, 0.2}, 4);
  EXPECT_EQ(once(TopKAccuracy(1), loss, at::tensor({3}), output), 0);
  EXPECT_EQ(once(TopKAccuracy(2), loss, at::tensor({3}), output), 1);
  EXPECT_EQ(once(TopKAccuracy(2), loss, at::tensor({7}), output), 0);
}

TEST(MetricState, TheGpuAgrees) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU";
  const at::Tensor x = at::randn({9, 5}), labels = at::arange(9).remainder(5);
  for (const Metric& metric : {Accuracy(), TopKAccuracy(2)}) {
    const Loss loss = SparseCategoricalCrossentropy();
    EXPECT_EQ(once(metric, loss, labels, x), once(metric, loss, labels.cuda(), x.cuda()));
  }
}

TEST(MetricState, IsNamed) {
  EXPECT_EQ(MetricState(TopKAccuracy(3), Loss()).name(), "top_3_accuracy");
  EXPECT_EQ(Accuracy().name(), "accuracy");
  EXPECT_EQ(MAE().name(), "mae");
}

}  // namespace
}  // namespace headway
