#include "headway/doctor/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "headway/doctor/diagnose.h"
#include "headway/doctor/simulate.h"

namespace headway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::simulate;
using testing::Simulation;
using ::testing::StartsWith;

RunSummary summary(const Trace& trace) {
  const std::vector<Finding> findings = diagnose(trace);
  return summary_of(trace, verdict(trace, findings), findings);
}
RunSummary simulated(const Simulation& s) { return summary(simulate(s)); }

const AccountChange& of(const Comparison& c, Account account) {
  return *std::ranges::find(c.accounts, account, &AccountChange::account);
}

const Simulation kStarved{.own_ms = 40, .op_ms = 10, .serial_ms = 100, .dataset = testing::kSerial};
const Simulation kCured{.own_ms = 40, .op_ms = 10};

TEST(Compare, ACureIsFasterAndItsCauseIsGone) {
  const Comparison c = compare(simulated(kStarved), simulated(kCured));
  ASSERT_TRUE(c.speed);
  EXPECT_NEAR(c.speed->ratio.value, 2.5, 0.01);
  EXPECT_EQ(c.speed->change, Change::kMore);
  EXPECT_EQ(of(c, Account::kWaitsForData).change, Change::kLess);
  ASSERT_FALSE(c.went.empty());
  EXPECT_EQ(c.went[0].cause, Cause::kSerialMap);
  EXPECT_TRUE(c.came.empty());
  EXPECT_TRUE(c.worse.empty());
  EXPECT_THAT(headline(c),
              StartsWith("B is 2.5x as fast as A (10 -> 25 steps/s): waits for data 60% -> 0%"));
}

TEST(Compare, TheOtherWayRoundItIsWorse) {
  const Comparison c = compare(simulated(kCured), simulated(kStarved));
  EXPECT_EQ(c.speed->change, Change::kLess);
  EXPECT_THAT(c.worse, ElementsAre("B is slower"));
  EXPECT_THAT(headline(c),
              StartsWith("B takes 2.5x as long as A (25 -> 10 steps/s): waits for data 0% -> 60%"));
}

TEST(Compare, ARunWithItselfDoesNotDiffer) {
  const Comparison c = compare(simulated(kStarved), simulated(kStarved));
  EXPECT_FALSE(c.differs());
  EXPECT_TRUE(c.settings.empty());
  EXPECT_THAT(headline(c), StartsWith("no difference that is more than noise (10 and 10 steps/s; "
                                      "one of less than 5% could not be seen)"));
}

TEST(Compare, CostsAreHonestWhereSharesAreNot) {  // a faster feed makes computing a larger share
  const Comparison c = compare(simulated(kStarved), simulated(kCured));
  const AccountChange& computes = of(c, Account::kComputes);
  EXPECT_GT(computes.b_time.share, 2 * computes.a_time.share);
  ASSERT_TRUE(computes.a_cost && computes.b_cost);
  EXPECT_NEAR(computes.b_cost->value, computes.a_cost->value, 1e-4);
  EXPECT_EQ(computes.change, Change::kWithinNoise);
}

TEST(Compare, CostsAddUpToTheTimeFromStepToStep) {
  const RunSummary run = simulated({.own_ms = 40, .callback_ms = 5, .serial_ms = 60});
  double sum = 0;
  for (const AccountTime& each : run.accounts) sum += each.s_per_step->value;
  EXPECT_NEAR(sum, 1 / run.steps_per_s->value, 1e-3);
}

// Steps of a run whose pace varies from second to second.
Trace noisy(double steps_per_s, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> pace(steps_per_s, steps_per_s / 4);
  Trace trace;
  trace.outside.seen = true;
  trace.outside.framework = Framework::kTorch;
  trace.outside.progress.first_step_s = 0;
  for (int i = 0; i < 30; ++i) {
    LedgerBlock& block = trace.outside.ledger.emplace_back();
    block.at_s = i, block.seconds = 1, block.training = true;
    block.steps = std::max(0, int(pace(random) + 0.5));
    block.entries = {{Account::kComputes, DeviceState::kNone, 20}};
    block.cpu_s = block.main_cpu_s = 1;
  }
  trace.outside.progress.steps = 1;
  return trace;
}

TEST(Compare, RunsThatDifferOnlyByChanceSeldomSeemToDiffer) {
  int slower = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const Comparison c = compare(summary(noisy(40, 2 * seed)), summary(noisy(40, 2 * seed + 1)));
    slower += c.speed->change != Change::kWithinNoise;
  }
  EXPECT_LE(slower, 3);
}

TEST(Compare, AFifthLessIsSeenThroughThatNoise) {
  int seen = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const Comparison c = compare(summary(noisy(40, 2 * seed)), summary(noisy(30, 2 * seed + 1)));
    seen += c.speed->change == Change::kLess;
  }
  EXPECT_GE(seen, 80);
}

TEST(Compare, OneBlockOfTimeProvesNothing) {
  RunSummary a = simulated(kStarved), b = simulated(kCured);
  a.steps_per_s->low = 0, a.steps_per_s->high = std::numeric_limits<double>::infinity();
  const Comparison c = compare(a, b);
  EXPECT_EQ(c.speed->change, Change::kWithinNoise);
}

TEST(Compare, BatchesOfTwoSizesAreComparedBySample) {
  RunSummary small = simulated({.batch = 32, .own_ms = 40}),
             large = simulated({.batch = 64, .own_ms = 80});
  const Comparison c = compare(small, large);
  EXPECT_TRUE(c.per_sample);
  EXPECT_EQ(c.speed->change, Change::kWithinNoise) << c.speed->ratio.value;
  EXPECT_THAT(headline(c), HasSubstr("samples/s"));
  ASSERT_FALSE(c.settings.empty());
  EXPECT_EQ(c.settings[0].name, "batch size");
}

TEST(Compare, AStuckRunIsWorseWhateverItsSpeedWas) {
  const Comparison c =
      compare(simulated(kCured), simulated({.own_ms = 40, .stuck_from_s = 10, .ended = false}));
  ASSERT_FALSE(c.worse.empty());
  EXPECT_EQ(c.worse[0], "B is stuck");
  EXPECT_THAT(headline(c), StartsWith("A is healthy, B is stuck: worker-deadlock came"));
}

TEST(Compare, WrongNumbersAreWorseAtTheSameSpeed) {
  const Comparison c = compare(simulated(kCured), simulated({.own_ms = 40, .bad_from_step = 100}));
  EXPECT_THAT(c.worse, ElementsAre("new cause: nan-loss"));
}

TEST(Compare, ABottleneckThatComesToLightInAFasterRunIsNotWorse) {
  RunSummary b = simulated(kCured);
  b.causes.push_back({Cause::kLaunchBound, Severity::kHigh, "the GPU waits for orders"});
  EXPECT_TRUE(compare(simulated(kStarved), b).worse.empty());
  b.steps_per_s.reset();
  EXPECT_THAT(compare(simulated(kStarved), b).worse, ElementsAre("new cause: launch-bound"));
}

TEST(Compare, WithoutStepsSharesTell) {
  RunSummary a = simulated(kCured), b = simulated(kStarved);
  a.steps_per_s.reset(), b.steps_per_s.reset(), b.causes.clear();
  const Comparison c = compare(a, b);
  EXPECT_FALSE(c.speed);
  EXPECT_EQ(of(c, Account::kWaitsForData).change, Change::kMore);
  EXPECT_THAT(c.worse, ElementsAre("B waits for data more"));
}

TEST(Compare, ARunThatNobodyWatchedCannotBeCompared) {
  EXPECT_FALSE(is_comparable({.state = State::kNotWatched}));
  EXPECT_FALSE(is_comparable({.state = State::kNotStarted}));
  EXPECT_TRUE(is_comparable(simulated(kCured)));
}

TEST(RateText, HasThreeDigits) {
  EXPECT_EQ(rate_text(6.1), "6.1");
  EXPECT_EQ(rate_text(0.1234), "0.123");
  EXPECT_EQ(rate_text(12345.6), "12,346");
}

}  // namespace
}  // namespace headway
