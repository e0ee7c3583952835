#include "headway/probe/variable_progress.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

SeenValue value(const char* name, int64_t number) {
  return {.function = "train", .name = name, .value = std::to_string(number), .users = true};
}

TEST(VariableProgress, CountsByAVariableThatMoves) {
  VariableProgress variables;
  for (int64_t i = 0; i < 6; ++i)
    variables.take({value("epoch", 1), value("step", 10 * i)}, double(i));
  EXPECT_EQ(variables.progress().epoch, 2);
  EXPECT_EQ(variables.progress().step, 50);
  EXPECT_EQ(variables.progress().steps, 30);  // from where it was first believed
  EXPECT_DOUBLE_EQ(variables.progress().step_s, 0.1);
}

TEST(VariableProgress, OneThatStandsStillCountsNothing) {
  VariableProgress variables;
  for (int64_t i = 0; i < 6; ++i) variables.take({value("step", 7)}, double(i));
  EXPECT_EQ(variables.progress().steps, 0);
  EXPECT_LT(variables.progress().first_step_s, 0);
}

TEST(VariableProgress, ANewEpochGoesOnCounting) {
  VariableProgress variables;
  const int64_t steps[] = {0, 40, 80, 90, 5};
  for (size_t i = 0; i < std::size(steps); ++i)
    variables.take({value("step", steps[i])}, double(i));
  EXPECT_EQ(variables.progress().steps, 10 + 5);
}

}  // namespace
}  // namespace headway
