#include "headway/doctor/keeper.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

const std::vector<Finding> kWaits = {{.cause = Cause::kInputBound,
                                      .severity = Severity::kWarning,
                                      .summary = "training waits for data"}};
const Verdict kSlow{.state = State::kSlow, .sentence = "slow: training waits for data"};
const Verdict kHealthy{.state = State::kHealthy, .sentence = "healthy: computes"};

TEST(VerdictKeeper, DoesNotChangeItsMindForAMoment) {
  VerdictKeeper keeper;
  for (int s = 0; s < 30; ++s) keeper.take(s, {}, kHealthy);
  for (int s = 30; s < 35; ++s) keeper.take(s, kWaits, kSlow);
  EXPECT_EQ(keeper.verdict().state, State::kHealthy);
  for (int s = 35; s < 60; ++s) keeper.take(s, {}, kHealthy);
  EXPECT_EQ(keeper.changes().size(), 1u);
}

TEST(VerdictKeeper, FollowsWhatLasts) {
  VerdictKeeper keeper;
  for (int s = 0; s < 30; ++s) keeper.take(s, {}, kHealthy);
  for (int s = 30; s < 42; ++s) keeper.take(s, kWaits, kSlow);
  EXPECT_EQ(keeper.verdict().state, State::kSlow);
  ASSERT_EQ(keeper.changes().size(), 2u);
  EXPECT_EQ(keeper.changes()[1].cause, Cause::kInputBound);
}

TEST(VerdictKeeper, SaysAtOnceThatARunStandsStillOrIsOver) {
  VerdictKeeper keeper;
  for (int s = 0; s < 30; ++s) keeper.take(s, {}, kHealthy);
  keeper.take(31, {}, {.state = State::kStuck, .sentence = "stuck: nothing moves"});
  EXPECT_EQ(keeper.verdict().state, State::kStuck);
  keeper.take(32, {}, {.state = State::kCrashed, .sentence = "crashed: exit status 1"});
  EXPECT_EQ(keeper.verdict().state, State::kCrashed);
}

TEST(VerdictKeeper, KeepsWhatIsOverWithItsTime) {
  VerdictKeeper keeper;
  for (int s = 0; s <= 40; ++s) keeper.take(s, kWaits, kSlow);
  for (int s = 41; s <= 75; ++s) keeper.take(s, {}, kHealthy);
  EXPECT_EQ(keeper.verdict().state, State::kHealthy);
  ASSERT_EQ(keeper.findings().size(), 1u);
  EXPECT_EQ(keeper.findings()[0].severity, Severity::kInfo);
  EXPECT_NE(keeper.findings()[0].evidence[0].find("over now"), std::string::npos);
  keeper.take(76, {}, {.state = State::kFinished, .sentence = "finished: 12 ms per step"});
  EXPECT_EQ(keeper.findings()[0].severity, Severity::kWarning);
  EXPECT_NE(keeper.verdict().sentence.find("training waits for data"), std::string::npos);
}

TEST(VerdictKeeper, AtTheEndHealthyGivesWayToWhatWasSeenTwice) {
  const auto state = [](double first_seen_s) {
    VerdictKeeper keeper;
    for (int s = 0; s < 30; ++s)
      s < first_seen_s ? keeper.take(s, {}, kHealthy) : keeper.take(s, kWaits, kSlow);
    keeper.take(30, kWaits, kSlow, true);
    return keeper.verdict().state;
  };
  EXPECT_EQ(state(28), State::kSlow);
  EXPECT_EQ(state(30), State::kHealthy);
}

TEST(VerdictKeeper, AtTheEndOneFaultDoesNotGiveWayToAnother) {
  std::vector<Finding> other = kWaits;
  other[0].cause = Cause::kHotLine;
  VerdictKeeper keeper;
  for (int s = 0; s < 28; ++s) keeper.take(s, kWaits, kSlow);
  for (int s = 28; s < 31; ++s) keeper.take(s, other, kSlow, s == 30);
  EXPECT_EQ(keeper.findings()[0].cause, Cause::kInputBound);
}

const Verdict kNotStarted{.state = State::kNotStarted, .sentence = "not-started: reads files"};

TEST(VerdictKeeper, TheFirstWordAboutALateTrainingIsNotTakenBackAtOnce) {
  VerdictKeeper keeper;
  for (int s = 0; s < 24; ++s) keeper.take(s, {}, kNotStarted);
  for (int s = 24; s < 27; ++s) keeper.take(s, {}, kHealthy);  // the first steps do not wait
  for (int s = 27; s < 40; ++s) keeper.take(s, kWaits, kSlow);
  EXPECT_EQ(keeper.changes().size(), 2u);
  EXPECT_EQ(keeper.verdict().state, State::kSlow);
}

TEST(VerdictKeeper, ATrainingThatBeginsSoonIsJudgedSoon) {
  VerdictKeeper keeper;
  for (int s = 0; s < 4; ++s) keeper.take(s, {}, kNotStarted);
  for (int s = 4; s < 6; ++s) keeper.take(s, {}, kHealthy);
  EXPECT_EQ(keeper.verdict().state, State::kHealthy);
}

TEST(VerdictKeeper, WhatIsSeenLastOfATrainingThatHasJustBegunIsSaid) {
  VerdictKeeper keeper;
  for (int s = 0; s < 29; ++s) keeper.take(s, {}, kNotStarted);
  keeper.take(30, kWaits, kSlow, true);
  EXPECT_EQ(keeper.verdict().state, State::kSlow);
}

TEST(VerdictKeeper, ACauseThatComesBackSoonAfterItGaveWayToHealthyMustStandForTenSeconds) {
  const auto changes = [](int until_s) {
    VerdictKeeper keeper;
    for (int s = 0; s < 20; ++s) keeper.take(s, kWaits, kSlow);
    for (int s = 20; s <= 31; ++s) keeper.take(s, {}, kHealthy);
    for (int s = 32; s < until_s; ++s) keeper.take(s, kWaits, kSlow);
    return keeper.changes().size();
  };
  EXPECT_EQ(changes(41), 2u);
  EXPECT_EQ(changes(44), 3u);
}

TEST(VerdictKeeper, ACauseThatGaveWayAndComesBackMustStandTwiceAsLong) {
  std::vector<Finding> other = kWaits;
  other[0].cause = Cause::kHotLine;
  VerdictKeeper keeper;
  for (int s = 0; s < 20; ++s) keeper.take(s, kWaits, kSlow);
  for (int s = 20; s < 45; ++s) keeper.take(s, other, kSlow);
  for (int s = 45; s < 60; ++s) keeper.take(s, kWaits, kSlow);
  EXPECT_EQ(keeper.findings()[0].cause, Cause::kHotLine);
  for (int s = 60; s < 70; ++s) keeper.take(s, kWaits, kSlow);
  EXPECT_EQ(keeper.findings()[0].cause, Cause::kInputBound);
}

}  // namespace
}  // namespace headway
