#include <gtest/gtest.h>

#include <cmath>

#include "headway/doctor/diagnose.h"
#include "headway/doctor/simulate.h"

namespace headway {
namespace {

using namespace headway::testing;

// A healthy run with four kernels and a bias for each, examined eight times.
Trace looked_at() {
  Trace trace = simulate({});
  for (int i = 0; i < 4; ++i) {
    const std::string layer = "dense_" + std::to_string(i);
    trace.layers.push_back(layer);
    trace.weights.push_back({.name = layer + ".weight", .values = 4096, .kernel = true});
    trace.weights.push_back({.name = layer + ".bias", .values = 64});
  }
  for (int64_t k = 0; k < 8; ++k) {
    trace.numbers.push_back({.step = 1 + 50 * k,
                             .gradients = std::vector<double>(8, 0.01),
                             .weights = std::vector<double>(8, 0.1),
                             .updates = std::vector<double>(8, 1e-4),
                             .dead_units = {0.1, 0.2, 0.1, -1},
                             .input_mean = 0.5,
                             .input_std = 1});
  }
  return trace;
}

std::string cause(const Trace& trace) {
  for (const Finding& f : diagnose(trace))
    if (f.severity >= Severity::kWarning) return f.id();
  return "healthy";
}

template <typename F>
std::string cause_when(F&& change) {
  Trace trace = looked_at();
  for (NumbersReading& look : trace.numbers) change(look);
  return cause(trace);
}

TEST(Gradients, ThatAreSoundGiveNoWarning) { EXPECT_EQ(cause(looked_at()), "healthy"); }

TEST(Gradients, VanishOnTheWayBack) {
  EXPECT_EQ(cause_when([](NumbersReading& look) { look.gradients[0] = 1e-7; }),
            "vanishing-gradients");
  EXPECT_EQ(cause_when([](NumbersReading& look) { look.gradients[0] = 1e-4; }), "healthy");
}

TEST(Gradients, ExplodeOnTheWayBack) {
  EXPECT_EQ(cause_when([](NumbersReading& look) { look.gradients[0] = 5; }), "exploding-gradients");
  EXPECT_EQ(cause_when([](NumbersReading& look) { look.gradients[0] = 0.3; }), "healthy");
}

TEST(Gradients, ManyTimesTheWeightsExplode) {
  EXPECT_EQ(cause_when([](NumbersReading& look) { look.gradients.assign(8, 30); }),
            "exploding-gradients");
}

TEST(Gradients, ThatAreNotNumbersNameTheWeightAndTheStep) {
  Trace trace = looked_at();
  trace.numbers[5].gradients[2] = NAN;
  const Finding found = diagnose(trace).at(0);
  EXPECT_EQ(found.cause, Cause::kExplodingGradients);
  EXPECT_EQ(found.where, "dense_1.weight");
  EXPECT_NE(found.summary.find("step 251"), std::string::npos);
}

TEST(Gradients, ThatNeverComeAreNotConnected) {
  EXPECT_EQ(cause_when([](NumbersReading& look) { look.gradients[2] = look.gradients[3] = -1; }),
            "gradient-not-connected");
  Trace once = looked_at();
  once.numbers[0].gradients[2] = -1;
  EXPECT_EQ(cause(once), "healthy");
}

TEST(Weights, ThatNeverMoveAreNamed) {
  EXPECT_EQ(cause_when([](NumbersReading& look) { look.updates[4] = 0; }), "weights-not-updated");
  Trace trace = looked_at();
  trace.notes.push_back({NoteKind::kLeftOut, 1, "128x64"});
  EXPECT_EQ(cause(trace), "weights-not-updated");
}

TEST(Weights, ThatBeganAlikeAreABadStart) {
  Trace trace = looked_at();
  trace.weights[2].identical_units = true;
  EXPECT_EQ(cause(trace), "bad-initial-weights");
  trace.weights[2].identical_units = false;
  trace.weights[6].identical_units = true;  // its units differ because of their labels
  EXPECT_EQ(cause(trace), "healthy");
}

TEST(Units, ThatNeverFireAreDead) {
  EXPECT_EQ(cause_when([](NumbersReading& look) { look.dead_units[1] = 0.9; }), "dead-relu");
  EXPECT_EQ(cause_when([](NumbersReading& look) { look.dead_units[1] = 0.6; }), "healthy");
  Trace recovered = looked_at();
  for (size_t i = 0; i + 1 < recovered.numbers.size(); ++i) recovered.numbers[i].dead_units[1] = 1;
  EXPECT_EQ(cause(recovered), "healthy");
}

TEST(Inputs, FarFromOneAreNotScaled) {
  EXPECT_EQ(cause_when([](NumbersReading& look) { look.input_mean = 120, look.input_std = 70; }),
            "input-not-scaled");
  EXPECT_EQ(cause_when([](NumbersReading& look) { look.input_mean = 2, look.input_std = 5; }),
            "healthy");
}

TEST(Refusals, CarryTheirCause) {
  Trace trace = simulate({});
  trace.ending = "failed: vgg16 does not fit";
  trace.notes = {{.kind = NoteKind::kCause,
                  .at_s = 1,
                  .text = "vgg16 does not fit: 1 TB",
                  .cause = Cause::kModelTooLarge},
                 {NoteKind::kRemedy, 1, "make it narrower"}};
  const Finding found = diagnose(trace).at(0);
  EXPECT_EQ(found.cause, Cause::kModelTooLarge);
  EXPECT_EQ(found.summary, "vgg16 does not fit: 1 TB");
  EXPECT_EQ(found.fix, "make it narrower");
}

TEST(Replay, SaysThatTwiceTheBatchWouldCostNothing) {
  Trace trace = simulate({.batch = 32});
  trace.replay = {.batch_size = 32, .step_s = 0.040, .double_step_s = 0.042};
  EXPECT_EQ(cause(trace), "batch-too-small");
  EXPECT_NEAR(diagnose(trace).at(0).predicted_gain.value_or(0), 1.9, 0.01);
  trace.replay.double_step_s = 0.078;
  EXPECT_EQ(cause(trace), "healthy");
}

}  // namespace
}  // namespace headway
