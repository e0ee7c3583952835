#include "headway/train/loop/epoch_logs.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "headway/train/loop/pending_losses.h"

namespace headway {
namespace {

TEST(EpochLogs, ShowTheMeanOverSamplesNotOverBatches) {
  EpochLogs logs(nullptr);
  EXPECT_TRUE(std::isnan(logs.logs()["loss"]));
  logs.add(1, 10);
  logs.add(4, 5);
  EXPECT_DOUBLE_EQ(logs.logs()["loss"], 2);
  logs.reset();
  EXPECT_TRUE(std::isnan(logs.logs()["loss"]));
}

TEST(EpochLogs, GoOnInTheMiddleOfAnEpoch) {
  const auto metrics = [] { return std::vector<MetricState>{{MSE(), MeanSquaredError()}}; };
  std::vector<MetricState> before = metrics(), after = metrics();
  EpochLogs logs(&before), resumed(&after);
  logs.add(1, 3);
  before[0].update(at::zeros({3, 1}), at::ones({3, 1}), {});
  SavedTraining saved;
  logs.save(saved);
  resumed.restore(saved);
  EXPECT_DOUBLE_EQ(resumed.logs()["loss"], 1);
  EXPECT_DOUBLE_EQ(resumed.logs()["mse"], 1);
}

TEST(PendingLosses, AreFetchedInTheirOrderWithTheirBatches) {
  PendingLosses pending;
  EXPECT_TRUE(pending.fetch().empty());
  for (int64_t step = 1; !pending.full(); ++step) {
    Batch batch;
    batch.set("step", Tensor::scalar<int64_t>(step));
    pending.add(at::full({}, double(step)), std::move(batch), step, 4);
  }
  const std::vector<FetchedLoss> fetched = pending.fetch();
  ASSERT_GT(fetched.size(), 1u);
  for (const FetchedLoss& loss : fetched) {
    EXPECT_EQ(loss.value, double(loss.step));
    EXPECT_EQ(loss.batch["step"].item<int64_t>(), loss.step);
  }
  EXPECT_FALSE(pending.full());
}

}  // namespace
}  // namespace headway
