#include "headway/probe/output/variable_progress.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

SeenValue value(const char* name, int64_t number) {
  return {.function = "train", .name = name, .value = std::to_string(number), .users = true};
}

TEST(VariableProgress, CountsByAVariableThatMoves) {
  VariableProgress variables;
  for (int64_t i = 0; i < 6; ++i)
    variables.take({value("epoch", 1), value("step", 10 * i)}, {}, double(i));
  EXPECT_EQ(variables.progress().epoch, 2);
  EXPECT_EQ(variables.progress().step, 50);
  EXPECT_EQ(variables.progress().steps, 30);  // counted from where it was first trusted
  EXPECT_DOUBLE_EQ(variables.progress().step_s, 0.1);
}

TEST(VariableProgress, OneThatStandsStillCountsNothing) {
  VariableProgress variables;
  for (int64_t i = 0; i < 6; ++i) variables.take({value("step", 7)}, {}, double(i));
  EXPECT_EQ(variables.progress().steps, 0);
  EXPECT_LT(variables.progress().first_step_s, 0);
}

TEST(VariableProgress, ANewEpochGoesOnCounting) {
  VariableProgress variables;
  const int64_t steps[] = {0, 40, 80, 90, 5};
  for (size_t i = 0; i < std::size(steps); ++i)
    variables.take({value("step", steps[i])}, {}, double(i));
  EXPECT_EQ(variables.progress().steps, 10 + 5);
}

TEST(VariableProgress, AnyLetterCountsInALoopThatMakesSteps) {
  const VariableProgress::Loops loads{.stepping = {"main"}, .framework = true},
      trains{.stepping = {"train"}, .framework = true};
  VariableProgress loading, training;
  for (int64_t i = 0; i < 20; ++i) {
    loading.take({value("i", 10 * i + 1)}, loads, double(i));
    training.take({value("i", 10 * i + 1)}, trains, double(i));
  }
  EXPECT_EQ(loading.progress().steps, 0);
  EXPECT_EQ(training.progress().steps, 170);
}

TEST(VariableProgress, ALetterThatGoesOnByBatchesCountsBatches) {
  const VariableProgress::Loops loops{.stepping = {"train"}, .framework = true};
  VariableProgress variables;
  const int64_t starts[] = {64, 192, 320, 640, 960, 128};
  for (size_t i = 0; i < std::size(starts); ++i)
    variables.take({value("i", starts[i])}, loops, double(i));
  EXPECT_EQ(variables.progress().steps, 5 + 5 + 2);
}

TEST(VariableProgress, WithoutAFrameworkALetterMustRiseForSomeSeconds) {
  VariableProgress variables;
  for (int64_t i = 0; i < 10; ++i) variables.take({value("k", 3 * i)}, {}, 0.5 * double(i));
  EXPECT_EQ(variables.progress().steps, 0);
  for (int64_t i = 10; i < 20; ++i) variables.take({value("k", 3 * i)}, {}, 0.5 * double(i));
  EXPECT_EQ(variables.progress().steps, 27);
  variables.take({value("k", 2)}, {}, 10);  // the next epoch
  EXPECT_EQ(variables.progress().steps, 29);
}

TEST(VariableProgress, AnEpochThatIsOneStepCountsAsOne) {
  const VariableProgress::Loops loops{.stepping = {"train"}, .framework = true};
  VariableProgress fast, slow;
  for (int64_t i = 0; i < 10; ++i) {
    fast.take({value("epoch", 10 * i)}, loops, double(i));
    slow.take({value("epoch", i)}, loops, 5.0 * double(i));
  }
  EXPECT_GT(fast.progress().steps, 40);
  EXPECT_EQ(slow.progress().steps, 0);
}

TEST(VariableProgress, ABetterNameThatIsOutOfSightForAMomentKeepsItsPlace) {
  VariableProgress variables;
  const VariableProgress::Loops loops{.stepping = {"train"}, .framework = true};
  for (int64_t i = 0; i < 10; ++i) {
    std::vector<SeenValue> values{value("i", 1000 + i)};
    if (i % 2 == 0) values.push_back(value("step", i));
    variables.take(values, loops, double(i));
  }
  EXPECT_EQ(variables.progress().step, 8);
  EXPECT_LT(variables.progress().steps, 10);
}

TEST(VariableProgress, LossesOfVariablesAreKeptOncePerStep) {
  VariableProgress variables;
  const char* const kLosses[] = {"2.5", "2.5", "1.5", "nan", "nan", "1.5"};
  for (size_t i = 0; i < std::size(kLosses); ++i)
    variables.take({{.function = "train", .name = "loss", .value = kLosses[i], .users = true}}, {},
                   double(i));
  ASSERT_EQ(variables.losses().kept().size(), 3u);
  EXPECT_DOUBLE_EQ(variables.losses().kept()[1].value, 1.5);
  EXPECT_EQ(variables.losses().bad, 1);
  EXPECT_EQ(variables.progress().losses, 3);
}

}  // namespace
}  // namespace headway
