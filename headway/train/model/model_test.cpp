#include "headway/train/model/model.h"

#include <gmock/gmock.h>

#include "headway/io/bytes/temp_folder.h"
#include "headway/train/loop/training_data.h"

namespace headway {
namespace {

using namespace headway::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Model, LearnsWhatCanBeLearnt) {
  const Rows rows = signs(600);
  Model model = small_model();
  const History history = model.fit(rows.x, rows.y, quiet(10));
  EXPECT_EQ(history.epochs.size(), 10u);
  EXPECT_EQ(history.samples, 6000);
  EXPECT_LT(history.epochs.back()["loss"], history.epochs.front()["loss"]);
  const Rows others = signs(200, 2);
  EXPECT_GT(model.evaluate(others.x, others.y)["accuracy"], 0.9);
}

TEST(Model, PredictsAProbabilityPerClassForEachSample) {
  const Rows rows = signs(37);
  Model model = small_model();
  const Tensor p = model.predict(rows.x);
  ASSERT_EQ(p.shape(), Shape({37, 2}));
  for (int i = 0; i < 37; ++i) {
    EXPECT_NEAR(p.values<float>()[2 * i] + p.values<float>()[2 * i + 1], 1, 1e-5);
  }
}

TEST(Model, TheSameSeedGivesTheSameTraining) {
  const Rows rows = signs(100);
  Model a = small_model(3), b = small_model(3), c = small_model(4);
  a.fit(batches(rows), quiet(2));
  b.fit(batches(rows), quiet(2));
  c.fit(batches(rows), quiet(2));
  EXPECT_TRUE(same_weights(a, b));
  EXPECT_FALSE(same_weights(a, c));
}

TEST(Model, SummaryCountsParametersAndMemory) {
  Model model = Sequential({Input({784}), Dense(1024, {.activation = "relu"}), Dense(10)},
                           {.name = "wide", .device = "cpu"});
  model.compile({.optimizer = Adam(), .loss = MeanSquaredError()});
  EXPECT_EQ(model.parameter_count(), 784 * 1024 + 1024 + 1024 * 10 + 10);
  EXPECT_THAT(model.summary(),
              AllOf(HasSubstr("wide"), HasSubstr("dense (Dense)"), HasSubstr("(None, 1024)"),
                    HasSubstr("803,840"), HasSubstr("optimizer 6.5 MB")));
}

TEST(Model, TooLargeForMemoryIsRefusedWithTheArithmetic) {
  Model model =
      Sequential({Input({100}), Dense(1'000'000), Dense(1'000'000), Dense(10)}, {.device = "cpu"});
  model.compile({.optimizer = Adam(), .loss = MeanSquaredError()});
  const Rows rows = signs(4);
  Tensor x = Tensor::empty(DType::kFloat32, {4, 100});
  const std::string error = error_of([&] { model.fit(x, rows.y, quiet(1)); });
  EXPECT_THAT(error,
              AllOf(HasSubstr("1 T parameters"), HasSubstr("of weights"), HasSubstr("of gradients"),
                    HasSubstr("of optimizer"), HasSubstr("free"), HasSubstr("--->")));
}

TEST(Model, ALossThatDoesNotFitTheLastActivationIsRefused) {
  Model model = Sequential({Dense(10)}, {.device = "cpu"});
  EXPECT_THAT(error_of([&] { model.compile({.loss = SparseCategoricalCrossentropy()}); }),
              AllOf(HasSubstr("softmax"), HasSubstr("from_logits")));
}

TEST(Model, SavesAndLoadsItsWeights) {
  const TempFolder folder;
  const Rows rows = signs(50);
  Model a = small_model(1), b = small_model(2);
  a.fit(batches(rows), quiet(1));
  b.build({20});
  EXPECT_FALSE(same_weights(a, b));
  a.save_weights(folder.path("w.safetensors"));
  b.load_weights(folder.path("w.safetensors"));
  EXPECT_TRUE(same_weights(a, b));
  Model other = Sequential({Input({20}), Dense(3)}, {.device = "cpu"});
  EXPECT_THAT(error_of([&] { other.load_weights(folder.path("w.safetensors")); }),
              HasSubstr("of another model"));
}

TEST(Model, FitBeforeCompileSaysSo) {
  const Rows rows = signs(10);
  Model model = Sequential({Dense(2)}, {.device = "cpu"});
  EXPECT_THAT(error_of([&] { model.fit(rows.x, rows.y); }), HasSubstr("call compile("));
}

TEST(Model, AnUnknownDeviceAndAMissingGpuAreNamed) {
  EXPECT_THAT(error_of([] { Sequential({Dense(2)}, {.device = "tpu"}); }), HasSubstr("auto"));
  if (!why_no_gpu().empty()) {
    EXPECT_THAT(error_of([] { Sequential({Dense(2)}, {.device = "cuda"}); }),
                AllOf(HasSubstr("no GPU can be used"), HasSubstr(why_no_gpu())));
  }
}

}  // namespace
}  // namespace headway
