#include <gtest/gtest.h>

#include "headway/doctor/simulate_looks.h"

namespace headway {
namespace {

// One core is busy in a loop before training, without output or reading.
Trace searching(bool in_while) {
  SeenFrame frame = users(19, "starting_centres", "gaps = norm(centres - candidate)");
  frame.loops = 1, frame.in_while = in_while;
  SeenStack own = stack(Activity::kUser, Wait::kNothing, {frame}, 400);
  own.training = false;
  Trace trace = watched({own});
  trace.outside.at_s = 24;
  trace.outside.training_since_s = -1;
  trace.outside.progress = {};
  trace.outside.wanted_cores = 1;
  return trace;
}

TEST(OutsideRules, ASearchThatMayNeverEndIsNamedACountedLoopIsNot) {
  EXPECT_EQ(first_cause(searching(true)), "loop-never-ends");
  EXPECT_NE(first_cause(searching(false)), "loop-never-ends");
}

// A training that compiles for the first `until` of the 18 s after its first step, and then
// computes.
Trace compiling(int until) {
  SeenStack builds = training(18);
  builds.activity = Activity::kTrace, builds.account = Account::kCompiles;
  Trace trace = watched({builds, training(18)});
  for (size_t i = 0; i < trace.outside.ledger.size(); ++i)
    for (LedgerEntry& entry : trace.outside.ledger[i].entries)
      if (entry.account == Account::kCompiles) entry.looks = int(i) < until ? 9 : 0;
  return trace;
}

TEST(OutsideRules, AGraphThatIsBuiltOnceMoreIsNotBuiltAgainAndAgain) {
  EXPECT_EQ(first_cause(compiling(18)), "retracing");
  EXPECT_NE(first_cause(compiling(9)), "retracing");
}

// A generator without end, 2000 steps into the first epoch.
Trace endless(Framework framework, bool fits) {
  Trace trace = watched({training(300)});
  trace.outside.framework = framework;
  trace.outside.fits = fits;
  trace.outside.endless_generators = {"batches"};
  trace.outside.progress.source = ProgressSource::kOutput;
  trace.outside.progress.step = 2000;
  trace.outside.progress.steps_per_epoch = -1;
  return trace;
}

TEST(OutsideRules, AnEpochWithoutEndIsNamedWhereSomebodyCountsEpochs) {
  EXPECT_EQ(first_cause(endless(Framework::kKeras, true)), "epoch-never-ends");
  EXPECT_EQ(first_cause(endless(Framework::kTorch, true)), "epoch-never-ends");  // Lightning's
  EXPECT_EQ(first_cause(endless(Framework::kTensorFlow, false)), "none");
  Trace own_epochs = endless(Framework::kTensorFlow, false);
  own_epochs.outside.progress.epoch = 1;
  EXPECT_EQ(first_cause(own_epochs), "epoch-never-ends");
}

// Two looks a second at a run whose steps take `step_s(t)` at time t.
template <typename StepTime>
std::string cause_of_paces(StepTime step_s) {
  Trace trace = watched({training(300)});
  double steps = 0;
  for (int i = 0; i < 40; ++i) {
    TraceReading sample;
    sample.at_s = 0.5 * i;
    steps += 0.5 / step_s(i);
    sample.steps = int64_t(steps);
    trace.samples.push_back(sample);
  }
  return first_cause(trace);
}

// A machine on which every second look sees a slower run.
double noise(int i) { return i % 2 ? 1.15 : 1; }

TEST(OutsideRules, StepsThatTakeLongerAndLongerAreNamedInSpiteOfNoise) {
  EXPECT_EQ(cause_of_paces([](int i) { return (10e-3 + 1e-3 * i) * noise(i / 3); }),
            "step-time-grows");
}

TEST(OutsideRules, ANeighbourThatComesAndStaysIsNoGrowth) {
  EXPECT_EQ(cause_of_paces([](int i) { return (i < 20 ? 10e-3 : 25e-3) * noise(i / 3); }), "none");
  EXPECT_EQ(cause_of_paces([](int i) { return 10e-3 * noise(i); }), "none");
}

TEST(OutsideRules, StepsThatAreSlowerAllAtOnceDoNotGrow) {
  EXPECT_EQ(cause_of_paces([](int i) { return i < 20 ? 10e-3 + 1e-5 * i : 30e-3 + 1e-4 * i; }),
            "none");
}

// A program without a framework, where all own code counts as training.
TEST(OutsideRules, ALineWithAFasterWayIsNamedEvenWhereAllCodeTrains) {
  SeenFrame scatter = users(38, "add_rows", "np.add.at(table, rows, values)");
  const auto cause = [&](SlowCall call) {
    scatter.slow_call = call;
    SeenStack own = stack(Activity::kUser, Wait::kNothing, {scatter}, 200);
    own.account = Account::kComputes;
    Trace trace = watched({own, training(100)});
    trace.outside.framework = Framework::kNone;
    return first_cause(trace);
  };
  EXPECT_EQ(cause(SlowCall::kScatter), "hot-line");
  EXPECT_EQ(cause(SlowCall::kNone), "none");
}

// `with_lock` of 300 looks at steps hold Python's lock.
std::string cause_of_batch(int64_t size, int64_t with_lock) {
  SeenStack steps = training(300);
  steps.with_gil = with_lock;
  Trace trace = watched({steps});
  trace.outside.batch_size = size;
  trace.outside.progress.step_s = 0.03;
  trace.outside.progress.steps = 600;
  return first_cause(trace);
}

TEST(OutsideRules, AStepThatIsMostlyPythonHasTooSmallABatch) {
  EXPECT_EQ(cause_of_batch(1, 60), "batch-too-small");
  EXPECT_EQ(cause_of_batch(1, 6), "none");    // a large model, one sample at a time
  EXPECT_EQ(cause_of_batch(32, 60), "none");  // a small one
}

TEST(OutsideRules, AFirstStepThatCompilesIsNoStall) {
  Trace trace = watched(
      {stack(Activity::kTrace, Wait::kNothing, {users(30, "<module>", "model.fit(x)")}, 200),
       stack(Activity::kStep, Wait::kLock, {users(30, "<module>", "model.fit(x)")}, 150)});
  trace.outside.launched = true;
  trace.outside.progress = {};
  const auto findings = diagnose(trace);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].cause, Cause::kFirstStepCompiling);
  EXPECT_EQ(findings[0].severity, Severity::kInfo);
  trace.outside.at_s = 30;
  EXPECT_EQ(diagnose(trace)[0].severity, Severity::kWarning);  // such a wait is never intended
  trace.outside.at_s = 20;
  trace.outside.progress.steps = 100;
  EXPECT_NE(first_cause(trace), "first-step-compiling");
  trace.outside.progress.first_step_s = 14;  // 12 s after training began, 6 s ago
  EXPECT_EQ(first_cause(trace), "first-step-compiling");
  trace.outside.at_s = 60;
  EXPECT_NE(first_cause(trace), "first-step-compiling");
}

// A training that spends this share of its time on something else.
std::string cause_beside_training(Activity activity, Account account, double share) {
  SeenStack other = training(int64_t(360 * share));
  other.activity = activity, other.account = account;
  return first_cause(watched({training(int64_t(360 * (1 - share))), other}));
}

TEST(OutsideRules, ACallbackMayTakeAFifthAndWhoSavesAQuarter) {
  const auto calls = [](double share) {
    return cause_beside_training(Activity::kCallback, Account::kLogs, share);
  };
  const auto saves = [](double share) {
    return cause_beside_training(Activity::kCheckpoint, Account::kCheckpoints, share);
  };
  EXPECT_EQ(calls(0.26), "slow-callback");
  EXPECT_EQ(calls(0.18), "none");
  EXPECT_EQ(saves(0.34), "slow-callback");
  EXPECT_EQ(saves(0.26), "none");
}

// Every five seconds: steps made, and pieces of compiled code.
std::string cause_of_compiled(std::vector<std::pair<int64_t, int64_t>> looks,
                              Framework framework = Framework::kTorch) {
  Trace trace = watched({training(300)});
  trace.outside.framework = framework;
  for (size_t i = 0; i < looks.size(); ++i)
    trace.outside.compiled.push_back({5.0 * double(i), looks[i].first, looks[i].second});
  return first_cause(trace);
}

TEST(OutsideRules, CodeThatIsCompiledInStepAfterStepIsSeenInMemory) {
  EXPECT_EQ(cause_of_compiled({{0, 3}, {4, 95}, {8, 180}, {12, 270}, {16, 350}}), "retracing");
  EXPECT_EQ(cause_of_compiled({{0, 3}, {0, 95}, {0, 180}, {0, 270}, {4, 350}}), "none");  // before
  EXPECT_EQ(cause_of_compiled({{0, 3}, {4, 95}, {8, 180}, {12, 190}, {16, 190}}), "none");  // over
  EXPECT_EQ(cause_of_compiled({{0, 3}, {90, 5}, {180, 8}, {270, 9}, {360, 11}}), "none");   // few
}

TEST(OutsideRules, AGraphOfTensorFlowsThatIsCompiledAnewWasNotBuiltAnew) {
  EXPECT_EQ(cause_of_compiled({{0, 3}, {4, 95}, {8, 180}, {12, 270}, {16, 350}}, Framework::kKeras),
            "autotune-varying-shapes");
}

}  // namespace
}  // namespace headway
