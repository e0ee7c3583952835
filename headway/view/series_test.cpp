#include "headway/view/series.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "headway/doctor/simulate.h"

namespace headway {
namespace {

using testing::simulate;

const Series* find(const std::vector<Series>& all, const std::string& chart,
                   const std::string& name) {
  for (const Series& s : all)
    if (s.chart == chart && s.name == name) return &s;
  return nullptr;
}

TEST(Series, SaysWhatHappenedBetweenTwoSamples) {
  const auto all = series_of(simulate({.own_ms = 40, .op_ms = 10}));
  const Series* step = find(all, "step time", "step");
  ASSERT_TRUE(step);
  EXPECT_EQ(step->points.size(), 30u);
  for (const Point& p : step->points) EXPECT_NEAR(p.value, 0.04, 1e-9);
  EXPECT_EQ(step->points.back().step, 750);
}

TEST(Series, LossIsTheMeanOfItsPieceAndAGapWhereThereIsNone) {
  Trace trace;
  trace.samples.resize(3);
  trace.samples[0] = {.at_s = 1, .steps = 2, .loss_sum = 4, .losses = 2};
  trace.samples[1] = {.at_s = 2, .steps = 4, .loss_sum = 4, .losses = 2, .bad_losses = 2};
  trace.samples[2] = {.at_s = 3, .steps = 5, .loss_sum = 5, .losses = 3, .bad_losses = 2};
  const auto all = series_of(trace);
  const Series* loss = find(all, "loss", "training");
  ASSERT_TRUE(loss);
  ASSERT_EQ(loss->points.size(), 2u);
  EXPECT_EQ(loss->points[0].value, 2);
  EXPECT_EQ(loss->points[1].value, 1);
  EXPECT_EQ(loss->points[1].step, 5);
}

TEST(Series, EpochsShareTheChartOfTheirLog) {
  Trace trace = simulate({});
  trace.epochs = {{1, 10, 100, {{"loss", 1.5}}, {{"loss", 1.75}, {"accuracy", 0.5}}},
                  {2, 20, 100, {{"loss", NAN}}, {{"loss", 1.25}, {"accuracy", 0.6}}}};
  const auto all = series_of(trace);
  ASSERT_TRUE(find(all, "loss", "validation"));
  EXPECT_EQ(find(all, "loss", "validation")->points.at(1).value, 1.25);
  EXPECT_EQ(find(all, "loss", "training, whole epoch")->points.size(), 1u);
  EXPECT_EQ(find(all, "accuracy", "validation")->points.at(0).step, 250);
  EXPECT_EQ(all[0].chart, "loss");
  EXPECT_EQ(all[1].chart, "loss");
}

TEST(Series, WhatCountsSinceTheMachineStartedBeginsWithTheSecondSample) {
  Trace trace =
      simulate({.change = [](TraceReading& s) { s.system.io_some_s = 9000 + s.at_s / 4; }});
  const auto all = series_of(trace);
  const Series* disk = find(all, "pressure", "some wait for a disk");
  ASSERT_TRUE(disk);
  EXPECT_EQ(disk->points.size(), 29u);
  for (const Point& p : disk->points) EXPECT_NEAR(p.value, 0.25, 1e-9);
}

TEST(Series, OfEveryWeightAndLayer) {
  Trace trace = simulate({});
  trace.weights = {{.name = "dense.weight"}, {.name = "dense.bias"}};
  trace.layers = {"relu"};
  for (int64_t step : {10, 20}) {
    trace.numbers.push_back({.step = step,
                             .at_s = 0.5 * double(step),
                             .gradients = {0.25, -1},  // -1: got none
                             .weights = {2, 0},
                             .updates = {0.5, 0.5},
                             .dead_units = {0.125}});
  }
  const auto all = series_of(trace);
  ASSERT_TRUE(find(all, "gradients", "dense.weight"));
  EXPECT_EQ(find(all, "gradients", "dense.weight")->points.at(1).step, 20);
  EXPECT_EQ(find(all, "gradients", "dense.weight")->points.at(1).at_s, 10);
  EXPECT_FALSE(find(all, "gradients", "dense.bias"));
  EXPECT_EQ(find(all, "update per weight", "dense.weight")->points.at(0).value, 0.25);
  EXPECT_EQ(find(all, "dead units", "relu")->points.at(0).value, 0.125);
}

TEST(Series, OfAVeryDeepModelAreFewEnoughToBeToldApart) {
  Trace trace = simulate({});
  trace.weights.resize(1000, {.name = "w"});
  trace.numbers = {{.step = 1, .gradients = std::vector<double>(1000, 1.0)}};
  const auto all = series_of(trace);
  EXPECT_LE(
      std::count_if(all.begin(), all.end(), [](const Series& s) { return s.chart == "gradients"; }),
      40);
}

TEST(Series, LeaveOutWhatIsNotKnown) {
  const auto all = series_of(simulate({}));
  EXPECT_FALSE(find(all, "gradients", "dense.weight"));
  EXPECT_FALSE(find(all, "CPU quota", "time throttled"));
  EXPECT_TRUE(series_of(Trace{}).empty());
}

TEST(Series, NeverHoldMoreThanTheirLimitAndEndWithTheLast) {
  const Trace trace = simulate({.seconds = 5000});
  for (const size_t limit : {1, 7, 600, 10'000}) {
    for (const Series& s : series_of(trace, limit)) {
      EXPECT_LE(s.points.size(), limit);
      EXPECT_EQ(s.points.back().step, trace.samples.back().steps) << s.name;
    }
  }
}

TEST(StepPieces, AddUpToTheWhole) {
  const Trace trace = simulate({.seconds = 100});
  double seconds = 0;
  int64_t steps = 0;
  for (const StepPiece& piece : step_pieces(trace, 7)) {
    seconds += piece.times.total();
    steps += piece.steps;
  }
  EXPECT_EQ(steps, trace.samples.back().steps);
  EXPECT_NEAR(seconds, trace.samples.back().times.total(), 1e-6);
}

}  // namespace
}  // namespace headway
