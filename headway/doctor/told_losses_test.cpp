#include <gtest/gtest.h>

#include <algorithm>

#include "headway/doctor/losses.h"
#include "headway/doctor/simulate_looks.h"

namespace headway {
namespace {

// Begins at 2.3, is up at `peak` for the first quarter of the watch and at `late` in the rest.
std::string cause_of_losses(double peak, double late) {
  Trace trace = watched({training(300)});
  for (int i = 0; i < 40; ++i) {
    const double loss = i == 0 ? 2.3 : i < 10 ? peak : late + 0.01 * i;
    trace.outside.losses.push_back({0.5 * i, 50 * i, loss});
  }
  trace.outside.launched = true;
  trace.outside.progress.steps = trace.outside.progress.losses = 2000;
  trace.outside.progress.first_loss = 2.3;
  return first_cause(trace);
}

TEST(ToldLosses, ALossThatWentUpAndStaysThereIsNamed) {
  EXPECT_EQ(cause_of_losses(10, 9), "learning-rate");
  EXPECT_EQ(cause_of_losses(5e8, 4), "learning-rate");
  EXPECT_EQ(cause_of_losses(10, 4), "none");
  EXPECT_EQ(cause_of_losses(5e8, 2), "none");  // it recovered
}

// Losses that jump between two values.
Trace swinging() {
  Trace trace = watched({training(300)});
  for (int i = 0; i < 40; ++i)
    trace.outside.losses.push_back({0.5 * i, 50 * i, i % 2 == 0 ? 0.5 : 3.0 + 0.01 * i});
  trace.outside.launched = true;
  return trace;
}

TEST(ToldLosses, SwingsThatDoNotShrinkAreNamed) {
  EXPECT_EQ(first_cause(swinging()), "loss-oscillates");
}

TEST(ToldLosses, WhoJoinsLateMayHaveMissedWhatWasLearnt) {
  Trace trace = swinging();
  trace.outside.launched = false;
  EXPECT_EQ(first_cause(trace), "none");
  trace.outside.learning_rate = 0.3;
  EXPECT_EQ(first_cause(trace), "loss-oscillates");
}

TEST(ToldLosses, LossesOfOpponentsAndAgentsMaySwing) {
  Trace opponents = swinging(), agent = swinging();
  opponents.outside.progress.several_losses = true;
  agent.outside.progress.rewards = true;
  EXPECT_EQ(first_cause(opponents), "none");
  EXPECT_EQ(first_cause(agent), "none");
}

TEST(ToldLosses, ResultsOfAPoolAreNoSeries) {
  Trace trace = swinging();
  trace.outside.framework = Framework::kNone;
  trace.outside.stacks = {stack(Activity::kFetch, Wait::kLock,
                                {library("multiprocessing/pool.py", "IMapIterator.next"),
                                 users(9, "main", "for loss in pool.imap(train, jobs):")},
                                300)};
  trace.outside.processes.push_back({.pid = 2,
                                     .role = Role::kWorker,
                                     .name = "python",
                                     .state = TaskState::kRunning,
                                     .cores = 1});
  EXPECT_NE(first_cause(trace), "loss-oscillates");
}

// Begins at 2.7 and falls by `fall` of that, with noise.
std::string cause_of_noisy_losses(double fall, bool crossentropy, int64_t steps = 800) {
  Trace trace = watched({training(300)});
  for (int i = 0; i < 80; ++i)
    trace.outside.losses.push_back(
        {0.25 * i, 10 * i, 2.7 * (1 - fall * i / 80) + 0.2 * ((i * 7919) % 13 - 6) / 6.0});
  trace.outside.launched = true;
  trace.outside.progress.steps = steps;
  trace.outside.progress.first_loss = 2.7;
  if (crossentropy) trace.outside.crossentropy_at = users(5, "", "loss = cross_entropy(y, t)");
  return first_cause(trace);
}

TEST(ToldLosses, ACrossentropyThatNeverMovesIsFrozenHoweverNoisy) {
  EXPECT_EQ(cause_of_noisy_losses(0, true), "loss-frozen");
  EXPECT_EQ(cause_of_noisy_losses(0.1, true), "none");
  EXPECT_EQ(cause_of_noisy_losses(0, false), "none");
}

TEST(ToldLosses, WhatThousandsOfStepsHardlyMoveIsFrozen) {
  EXPECT_EQ(cause_of_noisy_losses(0.04, true, 800), "none");
  EXPECT_EQ(cause_of_noisy_losses(0.04, true, 20000), "loss-frozen");
  EXPECT_EQ(cause_of_noisy_losses(0.15, true, 20000), "none");
}

// A squared error that comes down to `level` and stays there, with noise.
std::string cause_of_squares(double level, bool crossentropy = false) {
  Trace trace = watched({training(300)});
  for (int i = 0; i < 40; ++i)
    trace.outside.losses.push_back(
        {0.5 * i, 40 * i,
         level + (i < 4 ? 0.6 - 0.15 * i : 0) + 0.03 * ((i * 7919) % 13 - 6) / 6.0});
  trace.outside.launched = true;
  trace.outside.progress.steps = 1600;
  trace.outside.progress.first_loss = level + 0.6;
  trace.outside.positive_loss_at = users(5, "", "loss = tf.reduce_mean(tf.square(y - net(x)))");
  if (crossentropy) trace.outside.crossentropy_at = users(5, "", "loss = cross_entropy(y, t)");
  return first_cause(trace);
}

TEST(ToldLosses, ASquareThatStaysAtTheVarianceOfScaledTargetsIsFrozen) {
  EXPECT_EQ(cause_of_squares(1.0), "loss-frozen");
  EXPECT_EQ(cause_of_squares(0.8), "none");
  EXPECT_EQ(cause_of_squares(1.0, true), "none");
}

// Noise of 4% around 1.5; falls by `fall` of that, at the very first by `early` of it.
std::string cause_of_a_start(double fall, double early = 0, int64_t steps = 800) {
  Trace trace = watched({training(300)});
  const auto loss = [&](int i) {
    return 1.5 * (1 - fall * i / 60 + (i == 0 ? early : 0)) + 0.1 * ((i * 7919) % 13 - 6) / 6.0;
  };
  for (int i = 0; i < 60; ++i) trace.outside.losses.push_back({0.4 * i, 20 * i, loss(i)});
  trace.outside.launched = true;
  trace.outside.progress.steps = steps;
  trace.outside.progress.first_loss = loss(0);
  trace.outside.positive_loss_at = users(5, "", "loss = tf.reduce_mean(tf.square(y - net(x)))");
  return first_cause(trace);
}

TEST(ToldLosses, ALossThatNeverFellIsFrozen) {
  EXPECT_EQ(cause_of_a_start(0), "loss-frozen");
  EXPECT_EQ(cause_of_a_start(-0.05), "loss-frozen");
  EXPECT_EQ(cause_of_a_start(0.08), "none");
  EXPECT_EQ(cause_of_a_start(0, 0, 100), "none") << "too few steps";
  EXPECT_EQ(cause_of_a_start(0, 0.5), "none") << "it was learnt at once";
}

TEST(ToldLosses, ALossThatABarShowsTwiceIsOne) {
  Trace trace = watched({training(300)});
  for (const double value : {0.5, 0.5, 0.4, 0.4, 0.4, 0.6})
    trace.outside.losses.push_back({0, 0, value});
  EXPECT_EQ(Losses(trace).size(), 3u);
  EXPECT_GT(Losses(trace).noise(), 0);
}

TEST(ToldLosses, AnUntrainedModelIsNotAlwaysRight) {
  Trace trace = watched({training(300)});
  for (int i = 0; i < 20; ++i) trace.outside.losses.push_back({1.0 * i, 50 * i, 0});
  trace.outside.positive_loss_at = users(5, "", "loss='categorical_crossentropy'");
  EXPECT_EQ(first_cause(trace), "none");  // it was learnt before the watch began
  trace.outside.launched = true;
  EXPECT_EQ(first_cause(trace), "loss-output-mismatch");
}

// Seven means over an epoch, from the first on.
Trace epochs(double first, double last) {
  Trace trace = watched({training(300)});
  for (int i = 0; i < 7; ++i)
    trace.outside.losses.push_back({2.0 * i, 70 * i, first + (last - first) * i / 6});
  trace.outside.launched = true;
  return trace;
}

TEST(ToldLosses, FewMeansThatAgreeToTheThirdDigitAreFrozen) {
  EXPECT_EQ(first_cause(epochs(8197.9, 8193.8)), "loss-frozen");
  EXPECT_EQ(first_cause(epochs(8197.9, 8100)), "none");
}

TEST(ToldLosses, WeightsThatAreHeldExplainAFrozenLoss) {
  Trace trace = epochs(8197.9, 8193.8);
  trace.outside.hints = {{Hint::kHeldWeights, users(9, "", "base.trainable = False")}};
  EXPECT_EQ(first_cause(trace), "weights-not-updated");
  trace = epochs(8197.9, 4000);
  trace.outside.hints = {{Hint::kHeldWeights, users(9, "", "base.trainable = False")}};
  EXPECT_EQ(first_cause(trace), "none");  // the others learn
}

TEST(ToldLosses, ASecondSoftmaxExplainsALossThatHardlyFalls) {
  const auto cause = [](double last) {
    Trace trace = watched({training(300)});
    for (int i = 0; i < 40; ++i)
      trace.outside.losses.push_back(
          {0.5 * i, 50 * i, 2.9 + (last - 2.9) * std::min(1.0, i / 9.0)});
    trace.outside.launched = true;
    trace.outside.hints = {
        {Hint::kSecondSoftmax, users(9, "forward", "return torch.softmax(x, dim=1)")}};
    return first_cause(trace);
  };
  EXPECT_EQ(cause(2.2), "loss-output-mismatch");
  EXPECT_EQ(cause(0.1), "none");
}

TEST(ToldLosses, AScheduleThatIsOverExplainsALossThatStops) {
  const auto cause = [](double falls_until_s, double last) {
    Trace trace = watched({training(300)});
    for (int i = 0; i < 20; ++i)
      trace.outside.losses.push_back(
          {double(i), 40 * i, 2 + (last - 2) * std::min(1.0, i / falls_until_s)});
    trace.outside.launched = true;
    trace.outside.hints = {{Hint::kShortSchedule, users(9, "", "CosineDecay(1e-3, EPOCHS)")}};
    return first_cause(trace);
  };
  EXPECT_EQ(cause(4, 1.2), "learning-rate");
  EXPECT_EQ(cause(20, 1.2), "none");  // still falls
  EXPECT_EQ(cause(4, 0.02), "none");  // there is nothing left to learn
}

TEST(ToldLosses, ALearningRateThatVanishedLongAgoIsNamed) {
  Trace trace = watched({training(300)});
  SeenProgress& p = trace.outside.progress;
  p.rates = 30, p.highest_rate = 0.02, p.rate = 1e-30, p.vanished_rates = 25;
  EXPECT_EQ(first_cause(trace), "learning-rate");
  p.vanished_rates = 6;  // the end of a schedule
  EXPECT_EQ(first_cause(trace), "none");
}

TEST(ToldLosses, AHighRateExplainsALossThatWasThrownUpAndDoesNotComeBelowItsFirst) {
  Trace trace = watched({training(300)});
  for (int i = 0; i < 40; ++i)
    trace.outside.losses.push_back({0.5 * i, 50 * i, i == 0 ? 2.3 : i < 10 ? 40.0 - 3 * i : 2.0});
  trace.outside.launched = true;
  trace.outside.progress.first_loss = 2.3;
  trace.outside.hints = {{Hint::kHighRate, users(9, "", "opt = Adam(net.parameters(), lr=1.0)")}};
  EXPECT_EQ(first_cause(trace), "learning-rate");
  trace.outside.hints.clear();
  EXPECT_EQ(first_cause(trace), "none");
}

}  // namespace
}  // namespace headway
