#include "headway/train/learn/schedule.h"

#include <gtest/gtest.h>

#include "headway/core/error.h"

namespace headway {
namespace {

TEST(Schedule, AConstantNeverMoves) {
  const Schedule schedule = 0.1;
  EXPECT_TRUE(schedule.is_constant());
  EXPECT_EQ(schedule.at(0), 0.1);
  EXPECT_EQ(schedule.at(1'000'000), 0.1);
}

TEST(Schedule, CosineFallsToAlphaAndStays) {
  const Schedule schedule = Schedule::cosine(2, 100, 0.25);
  EXPECT_DOUBLE_EQ(schedule.at(0), 2);
  EXPECT_DOUBLE_EQ(schedule.at(50), 2 * (0.25 + 0.75 / 2));
  EXPECT_DOUBLE_EQ(schedule.at(100), 0.5);
  EXPECT_DOUBLE_EQ(schedule.at(500), 0.5);
}

TEST(Schedule, ExponentialFallsSmoothlyOrInStairs) {
  EXPECT_DOUBLE_EQ(Schedule::exponential(1, 10, 0.25).at(5), 0.5);
  EXPECT_DOUBLE_EQ(Schedule::exponential(1, 10, 0.25, true).at(9), 1);
  EXPECT_DOUBLE_EQ(Schedule::exponential(1, 10, 0.25, true).at(20), 0.0625);
}

TEST(Schedule, AStepCountsTheBoundariesBehind) {
  const Schedule schedule = Schedule::step(1, {10, 20}, 0.5);
  EXPECT_EQ(schedule.at(10), 1);
  EXPECT_EQ(schedule.at(11), 0.5);
  EXPECT_EQ(schedule.at(21), 0.25);
}

TEST(Schedule, WarmUpRisesFromZeroThenTheScheduleBegins) {
  const Schedule schedule = Schedule::cosine(1, 10).with_warmup(4);
  EXPECT_FALSE(schedule.is_constant());
  EXPECT_EQ(schedule.at(0), 0);
  EXPECT_DOUBLE_EQ(schedule.at(1), 0.25);
  EXPECT_DOUBLE_EQ(schedule.at(4), 1);
  EXPECT_DOUBLE_EQ(schedule.at(9), 0.5);
  EXPECT_FALSE(Schedule(0.1).with_warmup(3).is_constant());
}

TEST(Schedule, SaysWhatItIs) {
  EXPECT_EQ(Schedule(0.001).describe(), "0.001");
  EXPECT_EQ(Schedule::cosine(1e-3, 10'000).with_warmup(500).describe(),
            "cosine 0.001 over 10000 steps, warm-up 500");
  EXPECT_EQ(Schedule::step(0.1, {30, 60}).describe(), "step 0.1 times 0.1 behind 30 60");
}

TEST(Schedule, RefusesWhatCannotBe) {
  EXPECT_THROW(Schedule::cosine(1, 0), Error);
  EXPECT_THROW(Schedule::exponential(1, -1, 0.5), Error);
  EXPECT_THROW(Schedule::step(1, {20, 10}), Error);
  EXPECT_THROW(Schedule(1).with_warmup(-1), Error);
}

}  // namespace
}  // namespace headway
