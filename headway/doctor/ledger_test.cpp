#include "headway/doctor/ledger.h"

#include <gtest/gtest.h>

#include "headway/doctor/simulate.h"

namespace headway {
namespace {

// A watch of `seconds` s with 20 looks in each, half of them computing and half waiting for data,
// in blocks of `run` seconds.
Trace half_waiting(int seconds, int run) {
  Trace trace;
  trace.outside.seen = true;
  trace.outside.framework = Framework::kTorch;
  trace.outside.progress.first_step_s = 0;
  for (int i = 0; i < seconds; ++i) {
    LedgerBlock& block = trace.outside.ledger.emplace_back();
    block.at_s = i, block.seconds = 1, block.training = true, block.steps = 5;
    const bool waits = i / run % 2;
    block.entries = {{waits ? Account::kWaitsForData : Account::kComputes, DeviceState::kNone, 20}};
    block.cpu_s = block.main_cpu_s = 1;
  }
  return trace;
}

double sum(const Ledger& ledger) {
  double out = 0;
  for (const LedgerLine& line : ledger.lines()) out += line.time.share;
  return out;
}

TEST(Ledger, AddsUpToOneFromOutsideAndFromInside) {
  EXPECT_NEAR(sum(Ledger(half_waiting(40, 1))), 1, 1e-9);
  EXPECT_NEAR(sum(Ledger(testing::simulate({.callback_ms = 3}))), 1, 1e-9);
}

TEST(Ledger, BeginsWhenItIsKnownWhoAsksForElements) {
  Trace trace = half_waiting(40, 20);  // before that, waiting looked like computing
  trace.outside.native.takers_since_s = 20;
  EXPECT_NEAR(Ledger(trace).of(Account::kWaitsForData).share, 1, 1e-9);
  trace.outside.native.takers_since_s = 36;  // too few seconds after that to say anything
  EXPECT_NEAR(Ledger(trace).of(Account::kWaitsForData).share, 0.5, 1e-9);
}

TEST(Ledger, IsLessSureTheLongerAStretchLasts) {
  const Share quick = Ledger(half_waiting(40, 1)).of(Account::kWaitsForData);
  const Share slow = Ledger(half_waiting(40, 10)).of(Account::kWaitsForData);
  EXPECT_NEAR(quick.share, 0.5, 1e-9);
  EXPECT_NEAR(slow.share, 0.5, 1e-9);
  EXPECT_LT(quick.high - quick.low, 0.3);
  EXPECT_GT(slow.high - slow.low, 1.3 * (quick.high - quick.low));
}

TEST(Ledger, OfTheLastSecondsForgetsTheRest) {
  Trace trace = half_waiting(40, 20);
  EXPECT_NEAR(Ledger(trace, 10).of(Account::kWaitsForData).share, 1, 1e-9);
}

TEST(Ledger, CountsTimeWithoutACoreApartAndSaysWhoHadIt) {
  Trace trace = half_waiting(20, 1000);  // only computes
  for (LedgerBlock& block : trace.outside.ledger) {
    block.cpu_s = block.main_cpu_s = 0.5;
    block.ready_s = block.main_ready_s = 0.5;
    block.neighbours_s = 1.5;
  }
  const Ledger beside(trace);
  EXPECT_NEAR(beside.of(Account::kNoCoreNeighbours).share, 0.5, 1e-9);
  EXPECT_NEAR(beside.of(Account::kComputes).share, 0.5, 1e-9);
  EXPECT_NEAR(beside.alone({Account::kComputes}).share, 1, 1e-9);
  for (LedgerBlock& block : trace.outside.ledger) block.neighbours_s = 0;
  EXPECT_NEAR(Ledger(trace).of(Account::kNoCoreOwn).share, 0.5, 1e-9);
  for (LedgerBlock& block : trace.outside.ledger) block.throttled_s = 0.5;
  EXPECT_NEAR(Ledger(trace).of(Account::kNoCoreQuota).share, 0.5, 1e-9);
}

SeenStack at_line(int64_t line, Activity activity, Account account, bool array_call = false) {
  SeenStack stack{.process = Role::kMain, .main_thread = true, .activity = activity};
  stack.account = account, stack.training = true, stack.samples = 100;
  stack.places = 1, stack.top_place = 100;
  SeenFrame frame{.file = "train.py", .function = "main", .line = line, .users = true};
  frame.array_call = array_call;
  stack.frames = {frame};
  return stack;
}

TEST(TrainingLines, ALineThatWasSeenInAStepIsTheTrainingItself) {
  Outside seen;
  seen.framework = Framework::kJax;
  seen.stacks = {at_line(9, Activity::kTrace, Account::kCompiles)};
  const TrainingLines lines(seen);
  EXPECT_TRUE(lines.trains(at_line(9, Activity::kUser, Account::kRunsOwnCode)));
  const SeenStack before = at_line(7, Activity::kUser, Account::kRunsOwnCode, true);
  EXPECT_FALSE(lines.trains(before));
  EXPECT_TRUE(lines.feeds(before));
  EXPECT_FALSE(lines.feeds(at_line(12, Activity::kUser, Account::kRunsOwnCode, true)));
}

TEST(TrainingLines, ALineThatCallsAFunctionOfTheUsersToMakeABatchDoesNotTrainWhenTheRestWasCutOff) {
  SeenStack cut = at_line(58, Activity::kUser, Account::kRunsOwnCode);
  cut.frames[0].feeds = {52}, cut.frames[0].text = "x, y = make_batch(rng)";
  SeenStack whole = cut;
  const SeenFrame inner{.file = "train.py", .function = "make_batch", .line = 19, .users = true};
  whole.frames.insert(whole.frames.begin(), inner);
  Outside seen;
  seen.framework = Framework::kJax;
  seen.stacks = {at_line(52, Activity::kStep, Account::kComputes), cut};
  EXPECT_TRUE(TrainingLines(seen).trains(cut));  // as far as is known it calls a library
  seen.stacks.push_back(whole);
  EXPECT_FALSE(TrainingLines(seen).trains(cut));
  EXPECT_TRUE(TrainingLines(seen).feeds(cut));
}

TEST(TrainingLines, WithoutAFrameworkTheOwnCodeIsTheTraining) {
  EXPECT_TRUE(
      TrainingLines(Outside{}).trains(at_line(3, Activity::kUser, Account::kRunsOwnCode, true)));
}

TEST(Ledger, ALineOfLooksAllowsForLooksThatAreMistaken) {
  const Ledger ledger(half_waiting(40, 1));
  const Share chance = ledger.of(Account::kWaitsForData);
  ASSERT_EQ(ledger.lines().size(), 2u);
  for (const LedgerLine& line : ledger.lines()) {  // they share the time equally
    EXPECT_NEAR(line.time.low, chance.low - 0.03, 1e-9);
    EXPECT_NEAR(line.time.high, chance.high + 0.03, 1e-9);
  }
}

}  // namespace
}  // namespace headway
