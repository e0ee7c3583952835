#include <gmock/gmock.h>

#include "headway/io/bytes/temp_folder.h"
#include "headway/train/loop/callback.h"
#include "headway/train/loop/training_data.h"

namespace headway {
namespace {

using namespace headway::testing;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A run with given losses.
class FakeTraining : public Training {
 public:
  int64_t epoch() const override { return epoch_; }
  int64_t epochs() const override { return 100; }
  int64_t step() const override { return epoch_ * 10; }
  double learning_rate() const override { return rate_; }
  void scale_learning_rate(double factor) override { rate_ *= factor; }
  void stop(const std::string& reason) override { stopped_ = reason; }
  void remember_weights() override { remembered_ = epoch_; }
  bool recall_weights() override { return recalled_ = true; }
  void save_weights(const std::string&) const override { ++saved_; }
  void warn(const std::string&) override {}
  void watch(bool) override {}

  // Epochs with these losses, until something stops it; how many there were.
  int64_t run(Callback& callback, std::initializer_list<double> losses) {
    for (const double loss : losses) {
      Logs logs;
      logs.set("val_loss", loss);
      callback.on_epoch_begin(*this);
      callback.on_epoch_end(*this, logs);
      ++epoch_;
      if (!stopped_.empty()) break;
    }
    callback.on_train_end(*this);
    return epoch_;
  }

  int64_t epoch_ = 0;
  double rate_ = 1;
  std::string stopped_;
  int64_t remembered_ = -1;
  bool recalled_ = false;
  mutable int saved_ = 0;
};

TEST(EarlyStopping, WaitsForItsPatienceAndGoesBackToTheBest) {
  FakeTraining run;
  const auto stop = EarlyStopping({.patience = 2, .restore_best_weights = true});
  EXPECT_EQ(run.run(*stop, {3, 2, 2.5, 1.5, 1.6, 1.7, 1.8}), 6);
  EXPECT_THAT(run.stopped_, HasSubstr("1.5 (epoch 4)"));
  EXPECT_EQ(run.remembered_, 3);
  EXPECT_TRUE(run.recalled_);
}

TEST(EarlyStopping, GoesOnWithItsPatienceAfterAResume) {
  FakeTraining before, after;
  const auto first = EarlyStopping({.patience = 3});
  before.run(*first, {1, 2, 2});
  const auto second = EarlyStopping({.patience = 3});
  second->restore(first->save());
  EXPECT_EQ(after.run(*second, {2, 2, 2}), 1);
}

TEST(EarlyStopping, WatchingWhatIsNotThereIsAnError) {
  FakeTraining run;
  const auto stop = EarlyStopping({.monitor = "val_accuracy"});
  EXPECT_THAT(error_of([&] { run.run(*stop, {1}); }), HasSubstr("set .validation"));
}

TEST(ReduceLROnPlateau, LowersTheRateWhenNothingImproves) {
  FakeTraining run;
  const auto reduce = ReduceLROnPlateau({.patience = 2, .factor = 0.5, .min_learning_rate = 0.3});
  run.run(*reduce, {1, 1, 1});
  EXPECT_DOUBLE_EQ(run.rate_, 0.5);
  run.run(*reduce, {1, 1, 1, 1});
  EXPECT_DOUBLE_EQ(run.rate_, 0.3);
}

TEST(SaveBest, SavesWhenItIsBetterOnly) {
  FakeTraining run;
  run.run(*SaveBest("w.safetensors"), {3, 2, 2, 4, 1});
  EXPECT_EQ(run.saved_, 3);
}

TEST(LearningRateScheduler, SetsTheRateOfEachEpoch) {
  FakeTraining run;
  run.run(*LearningRateScheduler([](int64_t epoch, double) { return epoch < 2 ? 0.5 : 0.25; }),
          {1, 1, 1});
  EXPECT_DOUBLE_EQ(run.rate_, 0.25);
}

TEST(CSVLogger, WritesALinePerEpoch) {
  const TempFolder folder;
  const Rows rows = signs(50);
  FitOptions options = quiet(3);
  options.callbacks = {CSVLogger(folder.path("log.csv"))};
  small_model().fit(batches(rows), options);
  const std::string text = folder.read("log.csv");
  EXPECT_THAT(text, StartsWith("epoch,loss,accuracy,learning_rate\n1,"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
}

TEST(LambdaCallback, IsCalledAtEachMoment) {
  std::string seen;
  FitOptions options = quiet(2);
  options.callbacks = {LambdaCallback({.on_train_begin = [&](Training&) { seen += "("; },
                                       .on_epoch_begin = [&](Training&) { seen += "["; },
                                       .on_batch_end = [&](Training&, double) { seen += "."; },
                                       .on_epoch_end = [&](Training&, Logs&) { seen += "]"; },
                                       .on_train_end = [&](Training&) { seen += ")"; }})};
  small_model().fit(batches(signs(30)), options);
  EXPECT_EQ(seen, "([...][...])");
}

}  // namespace
}  // namespace headway
