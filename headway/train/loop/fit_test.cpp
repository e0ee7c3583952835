#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <cmath>

#include "headway/trace/trace.h"
#include "headway/train/loop/training_data.h"
#include "headway/train/model/model.h"

namespace headway {
namespace {

using namespace headway::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string fit_error(const Dataset& dataset, FitOptions options = quiet(1)) {
  Model model = small_model();
  return error_of([&] { model.fit(dataset, options); });
}

TEST(Fit, AnEmptyDatasetIsAnError) {
  EXPECT_THAT(fit_error(batches(signs(10)).take(0)), HasSubstr("empty"));
  EXPECT_THAT(fit_error(batches(signs(10)).filter([](const Element&) { return false; })),
              HasSubstr("gave no batches"));
}

TEST(Fit, AnEndlessDatasetNeedsStepsPerEpoch) {
  EXPECT_THAT(fit_error(batches(signs(10)).repeat()), HasSubstr("steps_per_epoch"));
  FitOptions options = quiet(2);
  options.steps_per_epoch = 3;
  Model model = small_model();
  EXPECT_EQ(model.fit(batches(signs(10)).repeat(), options).steps, 6);
}

TEST(Fit, ADatasetThatEndsTooSoonIsRefusedBeforeTheFirstStep) {
  FitOptions options = quiet(2);
  options.steps_per_epoch = 6;
  EXPECT_THAT(
      fit_error(batches(signs(100)), options),
      AllOf(HasSubstr("ends after 10 batches"), HasSubstr("take 12"), HasSubstr(".repeat()")));
}

TEST(Fit, ADatasetOfUnknownLengthEndsItsEpochs) {
  const Dataset some =
      batches(signs(100)).filter([](const Element& e) { return e["y"].values<int64_t>()[0] == 1; });
  Model model = small_model();
  const History history = model.fit(some, quiet(3));
  EXPECT_EQ(history.epochs.size(), 3u);
  EXPECT_LT(history.steps, 30);
  EXPECT_GT(history.steps, 3);
}

TEST(Fit, ALabelOutsideTheClassesNamesTheSample) {
  Rows rows = signs(20);
  rows.y.values<int64_t>()[13] = 7;
  const Dataset plain = from_tensor_slices({{"x", rows.x}, {"y", rows.y}}).batch(10);
  EXPECT_THAT(fit_error(plain), AllOf(HasSubstr("sample 3 of the batch of step 2"),
                                      HasSubstr("label 7"), HasSubstr("0 .. 1")));
  std::vector<std::string> paths;
  for (int i = 0; i < 20; ++i) paths.push_back("photo" + std::to_string(i) + ".jpg");
  const Dataset named =
      from_tensor_slices({{"x", rows.x}, {"y", rows.y}, {"path", Tensor::strings(paths)}})
          .batch(10);
  EXPECT_THAT(fit_error(named), HasSubstr("photo13.jpg: label 7"));
}

TEST(Fit, NotANumberInTheDataNamesTheSample) {
  Rows rows = signs(20);
  rows.x.values<float>()[20 * 15 + 4] = NAN;
  const Dataset plain = from_tensor_slices({{"x", rows.x}, {"y", rows.y}}).batch(10);
  EXPECT_THAT(fit_error(plain), AllOf(HasSubstr("sample 5 of the batch of step 2"),
                                      HasSubstr("value 4 of 'x' is nan")));
}

TEST(Fit, ALossThatExplodesIsReportedAndEndsTheRunOnRequest) {
  const Rows rows = signs(100);
  const auto model = [] {
    Model m = Sequential({Dense(16), Dense(1)}, {.device = "cpu"});
    m.compile({.optimizer = SGD(1e6), .loss = MeanSquaredError()});
    return m;
  };
  Model silent = model(), stopped = model();
  const History history = silent.fit(batches(rows), quiet(3));
  ASSERT_EQ(history.warnings.size(), 1u);
  EXPECT_THAT(history.warnings[0], HasSubstr("lower the learning rate"));
  FitOptions options = quiet(3);
  options.callbacks = {TerminateOnNaN()};
  const History ended = stopped.fit(batches(rows), options);
  EXPECT_THAT(ended.stopped_by, HasSubstr("in step"));
  EXPECT_LT(ended.steps, 30);
  for (const float w : stopped.weight("dense.weight").values<float>())
    EXPECT_TRUE(std::isfinite(w));
}

TEST(Fit, ShapesThatDoNotFitAreBothNamed) {
  Model model = small_model();
  model.build({30});
  EXPECT_THAT(error_of([&] { model.fit(batches(signs(10)), quiet(1)); }),
              AllOf(HasSubstr("30"), HasSubstr("20")));
}

TEST(Fit, AccumulatedGradientsEqualALargerBatch) {
  const Rows rows = signs(80);
  const Dataset in_order = from_tensor_slices({{"x", rows.x}, {"y", rows.y}});
  const auto linear = [] {
    Model m = Sequential({Dense(2, {.activation = "softmax"})}, {.device = "cpu"});
    m.compile({.optimizer = SGD(0.1), .loss = SparseCategoricalCrossentropy()});
    return m;
  };
  Model large = linear(), small = linear();
  large.fit(in_order.batch(20), quiet(1));
  FitOptions options = quiet(1);
  options.accumulate = 2;
  small.fit(in_order.batch(10), options);
  const Tensor a = large.weight("dense.weight"), b = small.weight("dense.weight");
  for (int i = 0; i < a.count(); ++i) {
    EXPECT_NEAR(a.values<float>()[i], b.values<float>()[i], 1e-6);
  }
}

TEST(Fit, AClassThatWeighsNothingIsNotLearnt) {
  const Rows rows = signs(200);
  FitOptions options = quiet(5);
  options.class_weight = {{0, 0.0}, {1, 1.0}};
  Model model = small_model();
  model.fit(batches(rows), options);
  const Tensor p = model.predict(rows.x);
  for (int i = 0; i < 200; ++i) EXPECT_GT(p.values<float>()[2 * i + 1], 0.5f);
}

TEST(Fit, ValidationIsMeasuredWithoutDropoutAndNamedVal) {
  const Rows rows = signs(100);
  FitOptions options = quiet(2);
  options.validation = from_tensor_slices({{"x", rows.x}, {"y", rows.y}}).batch(10);
  Model model = small_model();
  const History history = model.fit(batches(rows), options);
  const Logs scores = model.evaluate(rows.x, rows.y, {.batch_size = 10});
  EXPECT_DOUBLE_EQ(history.epochs.back()["val_loss"], scores["loss"]);
  EXPECT_DOUBLE_EQ(history.epochs.back()["val_accuracy"], scores["accuracy"]);
}

TEST(Fit, AReplayMeasuresAndLeavesTheTrainingAsItWas) {
  FitOptions replaying = quiet(2);
  replaying.replay = true;
  Model plain = small_model(), replayed = small_model();
  plain.fit(batches(signs(100)), quiet(2));
  const History history = replayed.fit(batches(signs(100)), replaying);
  EXPECT_TRUE(same_weights(plain, replayed));
  EXPECT_EQ(history.steps, 20);
  EXPECT_EQ(history.trace->replay.batch_size, 10);
  EXPECT_GT(history.trace->replay.step_s, 0);
  EXPECT_GT(history.trace->replay.double_step_s, 0);
}

TEST(Fit, AReplayThatCannotDoubleTheBatchSaysWhy) {
  const auto only_ten = [](const at::Tensor& labels, const at::Tensor& output) {
    TORCH_CHECK(labels.size(0) == 10, "not ten");
    return (output.mean(1) - labels).pow(2);
  };
  Model model({Dense(4)}, {.device = "cpu"});
  model.compile({.loss = Loss{.kind = Loss::Kind::kCustom, .custom = only_ten}});
  FitOptions replaying = quiet(1);
  replaying.replay = true;
  const History history = model.fit(batches(signs(100)), replaying);
  EXPECT_EQ(history.steps, 10);
  EXPECT_GT(history.trace->replay.step_s, 0);
  EXPECT_EQ(history.trace->replay.double_step_s, 0);
  std::string said;
  for (const TraceNote& note : history.trace->notes)
    if (note.kind == NoteKind::kProbe) said += note.text;
  EXPECT_EQ(said, "the doubled batch cannot be trained on: not ten");
}

TEST(Fit, TheTraceTellsWhatWasAskedForAndWhatWasLeftToUs) {
  FitOptions asked = quiet(1);
  asked.threads.input = 3;
  Model model = small_model();
  const RunFacts run = model.fit(batches(signs(20)), asked).trace->run;
  EXPECT_EQ(run.input_threads, 3);
  EXPECT_EQ(run.products, ProductType::kFloat32);
  FitOptions left = quiet(1);
  left.threads.input = std::nullopt;
  const Dataset own = batches(signs(20)).with_options({.threads = 2});
  EXPECT_EQ(model.fit(own, left).trace->run.input_threads, 2);
  EXPECT_EQ(model.fit(batches(signs(20)), left).trace->run.input_threads, 0);
}

TEST(Fit, BeingWatchedChangesNothingThatIsLearnt) {
  FitOptions unwatched = quiet(3);
  unwatched.telemetry = false;
  Model a = small_model(), b = small_model();
  EXPECT_FALSE(a.fit(batches(signs(100)), quiet(3)).trace->numbers.empty());
  EXPECT_TRUE(b.fit(batches(signs(100)), unwatched).trace->numbers.empty());
  EXPECT_TRUE(same_weights(a, b));
}

// Watched from this step on.
struct WatchedFrom : Callback {
  explicit WatchedFrom(int64_t step) : step(step) {}
  std::string name() const override { return "watched from"; }
  bool wants_batches() const override { return true; }
  void on_train_begin(Training& training) override { training.watch(false); }
  void on_batch_end(Training& training, double) override {
    if (training.step() + 1 == step) training.watch(true);
  }
  const int64_t step;
};

TEST(Fit, WatchingMayRest) {
  FitOptions options = quiet(3);
  options.callbacks = {std::make_shared<WatchedFrom>(15)};
  const auto trace = small_model().fit(batches(signs(100)), options).trace;
  ASSERT_FALSE(trace->numbers.empty());
  EXPECT_EQ(trace->numbers.front().step, 15);
  EXPECT_EQ(trace->samples.back().losses, 30 - 14);
}

TEST(Fit, ALiveViewSeesTheEnd) {
  FitOptions options = quiet(3);
  std::string ending;
  options.on_look = [&ending](const Trace& trace) { ending = trace.ending; };
  small_model().fit(batches(signs(100)), options);
  EXPECT_EQ(ending, "finished");
}

TEST(Fit, TimeIsAccountedFor) {
  Model model = small_model();
  const History history = model.fit(batches(signs(500)), quiet(3));
  EXPECT_GT(history.times[StepPhase::kBackward], 0);
  EXPECT_LE(history.times.total(), history.seconds * 1.001);
  EXPECT_THAT(history.time_table(), AllOf(HasSubstr("waiting for data"), HasSubstr("optimizer")));
}

}  // namespace
}  // namespace headway
