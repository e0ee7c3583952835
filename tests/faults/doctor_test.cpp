// Runs put into trouble by real mechanisms, and what the doctor says about them. What it must not
// say is a wall-clock time: other programs may hold the cores.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "headway/doctor/diagnose.h"
#include "headway/trace/trace_file.h"
#include "headway/train/train.h"

namespace headway {
namespace {

Dataset rows(int64_t count, int64_t width) {
  Tensor x = Tensor::empty(DType::kFloat32, {count, width});
  Tensor y = Tensor::empty(DType::kInt64, {count});
  for (int64_t i = 0; i < count; ++i) {
    Random random(1, 0, static_cast<uint64_t>(i), 0);
    float sum = 0;
    for (int64_t j = 0; j < width; ++j) {
      sum += x.values<float>()[i * width + j] = random.normal();
    }
    y.values<int64_t>()[i] = sum > 0;
  }
  return from_tensor_slices({{"x", x}, {"y", y}}).repeat();
}

Model model(int64_t units) {
  Model model =
      Sequential({Dense(units, {.activation = "relu"}), Dense(units, {.activation = "relu"}),
                  Dense(2, {.activation = "softmax"})},
                 {.device = "cpu"});
  model.compile({.optimizer = SGD(1e-2), .loss = SparseCategoricalCrossentropy()});
  return model;
}

FitOptions quiet(int64_t steps) {
  return {.epochs = 1, .steps_per_epoch = steps, .show = Show::kNothing};
}

std::string worst(const History& history) {
  const std::vector<Finding> findings = diagnose(*history.trace);
  const bool grave = !findings.empty() && findings[0].severity >= Severity::kWarning;
  return grave ? findings[0].id() : "healthy";
}

Element slow(Element e) {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  return e;
}

TEST(LiveDoctor, NamesTheSerialMapThatSleeps) {
  const Dataset data = rows(256, 64).map(slow, {.num_parallel_calls = 1, .name = "slow"}).batch(32);
  const History history = model(64).fit(data, quiet(40));
  const std::vector<Finding> findings = diagnose(*history.trace);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].cause, Cause::kSerialMap);
  EXPECT_EQ(findings[0].where, "slow(serial)");
  EXPECT_GT(findings[0].predicted_gain.value_or(0), 1.3);
}

TEST(LiveDoctor, HasNothingToSayAboutTrainingThatComputes) {
  const Dataset data = rows(256, 512).batch(128);
  EXPECT_EQ(worst(model(512).fit(data, quiet(60))), "healthy");
}

TEST(LiveDoctor, NamesTheCallbackThatSleeps) {
  FitOptions options = quiet(150);
  options.callbacks = {LambdaCallback({.on_batch_end = [](Training&, double) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }})};
  EXPECT_EQ(worst(model(64).fit(rows(256, 64).batch(32), options)), "slow-callback");
}

TEST(LiveDoctor, FindsTheSameInTheFile) {
  const std::string path = ::testing::TempDir() + "/headway_live.trace";
  FitOptions options = quiet(40);
  options.trace = path;
  const Dataset data = rows(256, 64).map(slow, {.num_parallel_calls = 1, .name = "slow"}).batch(32);
  const History history = model(64).fit(data, options);
  const Trace read = read_trace(path);
  std::filesystem::remove(path);
  EXPECT_EQ(read.ending, "finished");
  EXPECT_EQ(read.samples.size(), history.trace->samples.size());
  ASSERT_FALSE(diagnose(read).empty());
  EXPECT_EQ(diagnose(read)[0].summary, diagnose(*history.trace)[0].summary);
}

TEST(LiveDoctor, FindsASourceThatNeverYieldsWhileItIsStuck) {
  const std::string path = ::testing::TempDir() + "/headway_mute.trace";
  std::atomic<bool> enough{false};
  const Dataset mute = generator([&enough] {
    return [&enough]() -> std::optional<Element> {
      while (!enough) {  // every file is missing, and nobody is told
      }
      return std::nullopt;
    };
  });
  std::thread training([&] {
    FitOptions options = quiet(10);
    options.trace = path;
    EXPECT_THROW(model(8).fit(mute.with_options({.stall_report_s = 0}).batch(8), options), Error);
  });
  Verdict judged;
  std::vector<Finding> findings;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (judged.state != State::kStuck && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    if (!std::filesystem::exists(path)) continue;
    const Trace trace = read_trace(path);
    findings = diagnose(trace);
    judged = verdict(trace, findings);
  }
  enough = true;
  training.join();
  std::filesystem::remove(path);
  ASSERT_EQ(judged.state, State::kStuck);
  EXPECT_EQ(findings[0].cause, Cause::kSourceNeverYields);
  EXPECT_NE(findings[0].where.find("reading the next element"), std::string::npos)
      << findings[0].where;
}

TEST(LiveDoctor, EndsAStuckRunWithACheckpointWhenAskedTo) {
  const std::string folder = ::testing::TempDir() + "/headway_stuck";
  std::filesystem::remove_all(folder);
  static std::atomic<bool> forever{true};  // outlives the worker that is left behind
  const auto calls = std::make_shared<std::atomic<int>>(0);
  const auto sticks = [calls](Element e) {
    while (++*calls > 2000 && forever) std::this_thread::sleep_for(std::chrono::seconds(1));
    return e;
  };
  FitOptions options = quiet(100'000);
  options.when_stuck = WhenStuck::kStop;
  options.checkpoint.folder = folder;
  const Dataset data =
      rows(256, 8).map(sticks, {.name = "lookup"}).batch(8).with_options({.stall_report_s = 0});
  const History history = model(8).fit(data, options);
  EXPECT_EQ(history.stopped_by, "stuck");
  EXPECT_GT(history.steps, 0);
  EXPECT_FALSE(std::filesystem::is_empty(folder));
  EXPECT_EQ(history.trace->ending, "stopped: stuck");
  std::filesystem::remove_all(folder);
}

TEST(LiveDoctor, KeepsTheErrorOfARunThatFails) {
  const std::string path = ::testing::TempDir() + "/headway_failed.trace";
  FitOptions options = quiet(40);
  options.trace = path;
  const auto bad = [](Element) -> Element { throw Error("the camera is unplugged"); };
  EXPECT_THROW(model(8).fit(rows(64, 8).map(bad).batch(8), options), Error);
  const Trace read = read_trace(path);
  std::filesystem::remove(path);
  EXPECT_NE(read.ending.find("the camera is unplugged"), std::string::npos);
  EXPECT_EQ(verdict(read, diagnose(read)).state, State::kCrashed);
}

}  // namespace
}  // namespace headway
