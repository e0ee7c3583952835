#include <gtest/gtest.h>

#include "headway/doctor/simulate_looks.h"

namespace headway {
namespace {

// A training that makes 200 steps while its six weights are watched, and learns; its losses go from
// 2.3 to `last`.
Trace looked_at(double last = 0.4) {
  Trace trace = watched({training(300)});
  Outside& seen = trace.outside;
  for (int i = 0; i < 40; ++i)
    seen.losses.push_back({0.5 * i, 5 * i, 2.3 + (last - 2.3) * i / 39 + 0.01 * (i % 2)});
  seen.launched = true;
  seen.progress.losses = 40, seen.progress.first_loss = 2.3;
  seen.model = {.looks = 12,
                .steps = 200,
                .weights = 6,
                .held = 6,
                .held_in_model = 6,
                .moved = 6,
                .with_gradient = 6,
                .optimizer = "Adam",
                .rate = 1e-3,
                .highest_rate = 1e-3};
  for (const char* name : {"0", "2", "4"}) {
    trace.weights.push_back({.name = std::string(name) + ".weight", .values = 64, .kernel = true});
    trace.weights.push_back({.name = std::string(name) + ".bias", .values = 8});
  }
  for (int i = 0; i < 12; ++i)
    trace.numbers.push_back({.step = 16 * i,
                             .gradients = std::vector<double>(6, 0.01),
                             .weights = std::vector<double>(6, 0.1)});
  return trace;
}

TEST(LiveModel, WhoseWeightsMoveIsSound) { EXPECT_EQ(first_cause(looked_at()), "none"); }

TEST(LiveModel, WhoseWeightsNeverMoveIsNamedWhateverTheLossesSay) {
  Trace trace = looked_at();
  trace.outside.model.moved = 0;
  EXPECT_EQ(first_cause(trace), "weights-not-updated");
  trace.outside.losses.clear();
  EXPECT_EQ(first_cause(trace), "weights-not-updated");
}

TEST(LiveModel, ThatHadNoTimeToMoveIsNotAccused) {
  Trace trace = looked_at();
  trace.outside.model.moved = 0;
  trace.outside.model.steps = 9;
  EXPECT_EQ(first_cause(trace), "none");
}

TEST(LiveModel, WithoutAnyGradientIsNotConnected) {
  Trace trace = looked_at();
  trace.outside.model.moved = trace.outside.model.with_gradient = 0;
  EXPECT_EQ(first_cause(trace), "gradient-not-connected");
}

// TensorFlow's variables do not tell their gradients: only that nothing moves is known.
TEST(LiveModel, WhoseGradientsCannotBeSeenIsNotUpdated) {
  Trace trace = looked_at();
  trace.outside.model.hides_gradients = true;
  trace.outside.model.with_gradient = 0;
  for (NumbersReading& look : trace.numbers) look.gradients.clear();
  EXPECT_EQ(first_cause(trace), "none");
  trace.outside.model.moved = 0;
  EXPECT_EQ(first_cause(trace), "weights-not-updated");
  EXPECT_EQ(diagnose(trace)[0].evidence[0].find("had a gradient"), std::string::npos);
}

TEST(LiveModel, WhoseRateIsZeroHasTheWrongRate) {
  Trace trace = looked_at();
  trace.outside.model.moved = 0;
  trace.outside.model.rate = 0;
  EXPECT_EQ(first_cause(trace), "learning-rate");
}

TEST(LiveModel, ThatNobodyTrainsIsNoFault) {
  Trace trace = looked_at();
  SeenModel& model = trace.outside.model;
  model.moved = model.held = model.held_in_model = model.with_gradient = 0;
  EXPECT_EQ(first_cause(trace), "none");
  // The weights of a teacher do not change while the model that learns from it is not visible.
  model.held = 6;
  EXPECT_EQ(first_cause(trace), "none");
  model.with_gradient = model.left_out = 6;
  EXPECT_EQ(first_cause(trace), "weights-not-updated");
}

TEST(LiveModel, PartsThatNoOptimizerHoldsAreNamedWhereTheLossHardlyFalls) {
  Trace learns = looked_at(), stays = looked_at(2.2);
  learns.outside.model.left_out = stays.outside.model.left_out = 2;
  EXPECT_EQ(first_cause(learns), "none");
  EXPECT_EQ(first_cause(stays), "weights-not-updated");
}

TEST(LiveModel, ParametersOfJaxThatAreNeverReplacedAreNamed) {
  Trace trace = looked_at(2.3);
  trace.outside.model = {.looks = 12, .steps = 200, .weights = 6, .arrays = 6};
  EXPECT_EQ(first_cause(trace), "weights-not-updated");
  Trace learns = looked_at(0.4);  // the arrays that are trained have another name
  learns.outside.model = trace.outside.model;
  EXPECT_EQ(first_cause(learns), "none");
  trace.outside.model.replaced = true;
  EXPECT_NE(first_cause(trace), "weights-not-updated");
}

TEST(LiveModel, WhoseFirstKernelsGetNextToNothingVanishesOnlyIfNothingIsLearnt) {
  for (const double last : {0.4, 2.29}) {
    Trace trace = looked_at(last);
    for (NumbersReading& look : trace.numbers) look.gradients[0] = 1e-8, look.gradients[2] = 1e-5;
    EXPECT_EQ(first_cause(trace), last < 1 ? "none" : "vanishing-gradients");
  }
}

TEST(LiveModel, AnEmbeddingThatGetsLittleIsNoVanishing) {
  Trace trace = looked_at(2.29);
  for (NumbersReading& look : trace.numbers) look.gradients[0] = 0;
  EXPECT_NE(first_cause(trace), "vanishing-gradients");
}

TEST(LiveModel, WhoseKernelsGetExactlyNothingIsDead) {
  Trace trace = looked_at(2.29);
  for (NumbersReading& look : trace.numbers) look.gradients = {0, 0, 0, 0, 0, 0.01};
  EXPECT_EQ(first_cause(trace), "dead-relu");
}

TEST(LiveModel, WhoseKernelsNeverMoveWhileSomethingDoesIsDead) {
  for (const double moved : {0.0, 1e-4}) {
    Trace trace = looked_at(2.29);
    trace.outside.model.hides_gradients = true;
    trace.outside.model.with_gradient = 0, trace.outside.model.moved = 1;
    for (size_t i = 0; i < trace.numbers.size(); ++i) {
      trace.numbers[i].gradients.clear();
      trace.numbers[i].weights = {
          0.1, 0.1, 0.1, 0.1, 0.1 + moved * double(i), 0.1 + 1e-3 * double(i)};
      trace.numbers[i].weights[0] += moved * double(i);
    }
    EXPECT_EQ(first_cause(trace) == "dead-relu", moved == 0);
  }
}

TEST(LiveModel, WhoseUnitsAreAlikeBeganBadly) {
  Trace trace = looked_at(2.0);
  trace.weights[0].identical_units = trace.weights[2].identical_units = true;
  EXPECT_EQ(first_cause(trace), "bad-initial-weights");
}

TEST(LiveModel, WhoseWeightsBeganFarTooLargeOrSmallBeganBadly) {
  const auto began = [](double weights, double last) {
    Trace trace = looked_at(last);
    for (WeightFacts& weight : trace.weights) weight.fan_in = weight.kernel ? 64 : 0;
    trace.numbers.front().weights.assign(6, weights);
    return first_cause(trace);
  };
  EXPECT_EQ(began(1, 2.0), "bad-initial-weights");
  EXPECT_EQ(began(1e-4, 2.0), "bad-initial-weights");
  EXPECT_EQ(began(0.1, 2.0), "none");
  EXPECT_EQ(began(1, 0.4), "none");  // it learns
}

TEST(LiveModel, WhoseFirstLayerIsGivenLargeNumbersIsNotScaledOnlyIfLittleIsLearnt) {
  for (const double last : {0.4, 2.0}) {
    Trace trace = looked_at(last);
    for (NumbersReading& look : trace.numbers) look.input_mean = 100, look.input_std = 300;
    EXPECT_EQ(first_cause(trace), last < 1 ? "none" : "input-not-scaled");
  }
}

TEST(LiveModel, ACrossentropyThatFallsFromFarAboveGuessingIsExplainedByArraysOfLargeNumbers) {
  const auto cause = [](double first, double last, double numbers, bool crossentropy = true) {
    Trace trace = looked_at(last);
    Outside& seen = trace.outside;
    seen.progress.first_loss = first;
    for (int i = 0; i < 10; ++i) seen.losses[size_t(i)].value = first / (i + 1);
    seen.model.array_size = numbers;
    if (crossentropy) seen.crossentropy_at = users(5, "", "loss = 'binary_crossentropy'");
    return first_cause(trace);
  };
  EXPECT_EQ(cause(4000, 2, 8e4), "input-not-scaled");
  EXPECT_EQ(cause(4000, 2, 1), "none");           // the arrays are scaled
  EXPECT_EQ(cause(540, 110, 120), "none");        // a sum over the pixels of an image
  EXPECT_EQ(cause(4000, 2, 8e4, false), "none");  // any number may be a good squared error
}

TEST(LiveModel, RatesCountWithTheirOptimizer) {
  Trace adam = looked_at(2.0), sgd = looked_at(2.0);
  adam.outside.model.rate = adam.outside.model.highest_rate = 0.5;
  sgd.outside.model = adam.outside.model;
  sgd.outside.model.plain_steps = true;
  EXPECT_EQ(first_cause(adam), "learning-rate");
  EXPECT_EQ(first_cause(sgd), "none");
}

TEST(LiveModel, HooksThatAreRegisteredInEveryStepAreNamed) {
  const auto with_hooks = [](int64_t first, int64_t now, int64_t grew) {
    Trace trace = looked_at(0.5);
    trace.outside.model.first_hooks = first, trace.outside.model.hooks = now;
    trace.outside.model.hooks_grew = grew;
    return first_cause(trace);
  };
  EXPECT_EQ(with_hooks(3, 200, 12), "step-time-grows");
  EXPECT_EQ(with_hooks(3, 20, 12), "none");     // too few
  EXPECT_EQ(with_hooks(150, 200, 12), "none");  // most were there before
  EXPECT_EQ(with_hooks(3, 200, 1), "none");     // all at once
}

TEST(LiveModel, ARateThatFellToNothingIsNamed) {
  Trace trace = looked_at(1.5);
  trace.outside.model.rate = 1e-12;
  trace.outside.model.tiny_rates = 3;
  EXPECT_EQ(first_cause(trace), "none");
  trace.outside.model.tiny_rates = 6;
  EXPECT_EQ(first_cause(trace), "learning-rate");
}

}  // namespace
}  // namespace headway
