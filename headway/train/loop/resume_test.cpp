#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "headway/io/bytes/temp_folder.h"
#include "headway/io/records/safetensors.h"
#include "headway/train/loop/training_data.h"

namespace headway {
namespace {

using namespace headway::testing;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

FitOptions kept_in(const TempFolder& folder, int64_t epochs, bool resume = true) {
  FitOptions options = quiet(epochs);
  options.checkpoint = {
      .folder = folder.path("run"), .every_steps = 3, .keep = 2, .resume = resume};
  return options;
}

std::vector<std::string> files(const TempFolder& folder) {
  std::vector<std::string> names;
  for (const auto& e : fs::directory_iterator(folder.path("run")))
    names.push_back(e.path().string());
  std::sort(names.begin(), names.end());
  return names;
}

// Trains until `step`, then resumes with another model, as another process would.
void interrupted_training(const TempFolder& folder, const Dataset& data, int64_t step, Model& out,
                          std::vector<CallbackPtr> callbacks = {}) {
  Model first = small_model();
  FitOptions options = kept_in(folder, 4);
  options.callbacks = callbacks;
  int64_t steps = 0;
  options.should_stop = [&] { return steps++ == step; };
  EXPECT_EQ(first.fit(data, options).stopped_by, "interrupted");
  options.should_stop = {};
  EXPECT_EQ(out.fit(data, options).epochs.size(), 4u);
}

TEST(Resume, AnInterruptedTrainingEndsWithTheSameWeights) {
  const Dataset data = batches(signs(100));
  Model calm = small_model();
  const History whole = calm.fit(data, quiet(4));
  for (const int64_t step : {0, 1, 7, 10, 19, 39}) {
    const TempFolder folder;
    Model resumed = small_model();
    interrupted_training(folder, data, step, resumed);
    EXPECT_TRUE(same_weights(calm, resumed)) << "stopped after step " << step;
  }
}

TEST(Resume, ASecondTrainingInTheSameFolderIsToldOfTheFirst) {
  const Dataset data = batches(signs(100));
  const TempFolder folder;
  Model first = small_model(), second = small_model();
  FitOptions options = kept_in(folder, 1);
  std::string said;
  options.should_stop = [&] {  // while the first is at work
    try {
      second.fit(data, kept_in(folder, 1));
    } catch (const Error& e) {
      said = e.what();
    }
    return false;
  };
  first.fit(data, options);
  EXPECT_THAT(said, HasSubstr("run is in use by a training, process " + std::to_string(getpid())));
  EXPECT_THAT(files(folder), ::testing::SizeIs(2));
  second.fit(data, kept_in(folder, 1));  // and afterwards it may
}

TEST(Resume, TheLogsOfAnEpochAreThoseOfAnUndisturbedOne) {
  const Dataset data = batches(signs(100));
  Model calm = small_model(), resumed = small_model();
  const History whole = calm.fit(data, quiet(2));
  const TempFolder folder;
  FitOptions options = kept_in(folder, 2);
  int64_t steps = 0;
  options.should_stop = [&] { return steps++ == 14; };
  small_model().fit(data, options);
  options.should_stop = {};
  const History rest = resumed.fit(data, options);
  for (const auto& [name, value] : whole.epochs[1]) EXPECT_DOUBLE_EQ(rest.epochs[1][name], value);
}

TEST(Resume, GradientsHalfAccumulatedAreKept) {
  const Dataset data = batches(signs(100));
  FitOptions options = quiet(2);
  options.accumulate = 4;
  Model calm = small_model(), resumed = small_model();
  calm.fit(data, options);
  const TempFolder folder;
  options.checkpoint = kept_in(folder, 2).checkpoint;
  int64_t steps = 0;
  options.should_stop = [&] { return steps++ == 6; };
  small_model().fit(data, options);
  options.should_stop = {};
  resumed.fit(data, options);
  EXPECT_TRUE(same_weights(calm, resumed));
}

TEST(Resume, AReplayChangesNeitherGradientsHalfAccumulatedNorMetrics) {
  const Dataset data = batches(signs(100));
  FitOptions options = quiet(2);
  options.accumulate = 4;
  Model calm = small_model(), resumed = small_model();
  const History whole = calm.fit(data, options);
  const TempFolder folder;
  options.checkpoint = kept_in(folder, 2).checkpoint;
  int64_t steps = 0;
  options.should_stop = [&] { return steps++ == 6; };
  small_model().fit(data, options);
  options.should_stop = {};
  options.replay = true;
  const History rest = resumed.fit(data, options);
  EXPECT_TRUE(same_weights(calm, resumed));
  for (const auto& [name, value] : whole.epochs[0]) EXPECT_DOUBLE_EQ(rest.epochs[0][name], value);
}

// Nobody knows how many batches there are: the last one is not known to be the last.
TEST(Resume, AnEpochOfUnknownLengthGoesOnFromEachOfItsBatches) {
  const Rows rows = signs(40);
  const Dataset data = from_tensor_slices({{"x", rows.x}, {"y", rows.y}})
                           .filter([](const Element&) { return true; })
                           .batch(10);
  ASSERT_EQ(data.cardinality(), kUnknown);
  Model calm = small_model();
  const History whole = calm.fit(data, quiet(4));
  for (int64_t step = 0; step < whole.steps; ++step) {
    const TempFolder folder;
    Model resumed = small_model();
    interrupted_training(folder, data, step, resumed);
    EXPECT_TRUE(same_weights(calm, resumed)) << "stopped after step " << step;
  }
}

// The end of such an epoch is saved although its last step was already.
TEST(Resume, AnEpochThatWasOverIsFinishedOnce) {
  const Dataset data = from_tensor_slices({{"x", signs(40).x}, {"y", signs(40).y}})
                           .filter([](const Element&) { return true; })
                           .batch(10);
  const TempFolder folder;
  FitOptions options = kept_in(folder, 1);
  int64_t steps = 0;
  options.should_stop = [&] { return steps++ == 4; };
  small_model().fit(data, options);
  options.should_stop = {};
  EXPECT_EQ(small_model().fit(data, options).epochs.size(), 1u);
  int validated = 0;
  options.validation = from_tensor_slices({{"x", signs(10).x}, {"y", signs(10).y}})
                           .map([&](Element e) {
                             ++validated;
                             return e;
                           })
                           .batch(10);
  small_model().fit(data, options);
  EXPECT_EQ(validated, 0);
}

TEST(Resume, OfAFinishedTrainingChangesNothing) {
  const Dataset data = batches(signs(100));
  const TempFolder folder;
  Model done = small_model(), again = small_model();
  done.fit(data, kept_in(folder, 2));
  EXPECT_EQ(again.fit(data, kept_in(folder, 2)).samples, 0);
  EXPECT_TRUE(same_weights(done, again));
}

TEST(Resume, OnlyTheLastFewCheckpointsStay) {
  const TempFolder folder;
  small_model().fit(batches(signs(100)), kept_in(folder, 3));
  EXPECT_EQ(files(folder).size(), 2u);
}

TEST(Resume, ADamagedCheckpointIsSkippedAndReported) {
  const Dataset data = batches(signs(100));
  Model calm = small_model(), resumed = small_model();
  calm.fit(data, quiet(2));
  const TempFolder folder;
  small_model().fit(data, kept_in(folder, 2));
  fs::resize_file(files(folder).back(), 1000);
  const History history = resumed.fit(data, kept_in(folder, 2));
  ASSERT_EQ(history.warnings.size(), 1u);
  EXPECT_THAT(history.warnings[0], HasSubstr("damaged"));
  EXPECT_TRUE(same_weights(calm, resumed));
}

// A checkpoint with a valid hash whose state was changed.
TEST(Resume, AnInvalidStateIsRefusedWithTheNameOfItsFile) {
  const Dataset data = batches(signs(100));
  for (const auto& [good, bad] : std::vector<std::pair<std::string, std::string>>{
           {R"("loss":[)", R"("loss":[],"was":[)"},
           {R"("history":[)", R"("history":[[[]]],"was":[)"},
           {R"("threads":[)", R"("threads":[],"was":[)"},
           {R"("metrics":[)", R"("metrics":[[]],"was":[)"},
           {R"("version":1)", R"("version":2)"}}) {
    const TempFolder folder;
    small_model().fit(data, kept_in(folder, 1));
    for (const std::string& file : files(folder)) {
      Safetensors content = read_safetensors(file);
      std::string& state = content.metadata.at("headway.training");
      ASSERT_NE(state.find(good), std::string::npos) << state;
      state.replace(state.find(good), good.size(), bad);
      write_safetensors(file, content);
    }
    try {
      small_model().fit(data, kept_in(folder, 2));
      ADD_FAILURE() << "went on with " << bad;
    } catch (const Error& e) {
      EXPECT_THAT(e.problem(),
                  HasSubstr(".safetensors: the saved state of the training cannot be read: "))
          << bad;
      EXPECT_THAT(e.problem(), Not(HasSubstr("json.exception")));
      EXPECT_FALSE(e.hint().empty());
    }
  }
}

TEST(Resume, AnotherModelIsRefusedWithBothDescriptions) {
  const Dataset data = batches(signs(100));
  const TempFolder folder;
  small_model().fit(data, kept_in(folder, 1));
  Model other = Sequential({Dense(2, {.activation = "softmax"})}, {.device = "cpu"});
  other.compile({.optimizer = Adam(), .loss = SparseCategoricalCrossentropy()});
  const std::string error = error_of([&] { other.fit(data, kept_in(folder, 2)); });
  EXPECT_THAT(error, HasSubstr("checkpoint "));
  EXPECT_THAT(error, HasSubstr("this training "));
  EXPECT_THAT(error, HasSubstr(folder.path("run")));
}

TEST(Resume, EarlyStoppingAndItsBestWeightsSurvive) {
  const Dataset data = batches(signs(100));
  const auto stopping = [] {
    return EarlyStopping({.monitor = "loss", .patience = 2, .restore_best_weights = true});
  };
  FitOptions options = quiet(4);
  options.callbacks = {stopping()};
  Model calm = small_model(), resumed = small_model();
  calm.fit(data, options);
  const TempFolder folder;
  interrupted_training(folder, data, 25, resumed, {stopping()});
  EXPECT_TRUE(same_weights(calm, resumed));
}

}  // namespace
}  // namespace headway
