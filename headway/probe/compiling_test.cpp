#include "headway/probe/compiling.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

SeenStack look(Activity activity, int64_t line) {
  return {.activity = activity,
          .account = activity == Activity::kTrace ? Account::kCompiles : Account::kComputes,
          .frames = {{.file = "train.py", .line = line, .users = true}}};
}

TEST(Compiling, WhatFollowsTheBuildingOfAGraphBelongsToIt) {
  Compiling compiling;
  compiling.account_of(look(Activity::kTrace, 7), 1.0);
  compiling.account_of(look(Activity::kTrace, 7), 1.4);
  EXPECT_EQ(compiling.account_of(look(Activity::kStep, 7), 1.6), Account::kCompiles);
  EXPECT_EQ(compiling.account_of(look(Activity::kStep, 7), 1.9), Account::kComputes);
  EXPECT_EQ(compiling.account_of(look(Activity::kStep, 7), 1.95), Account::kComputes);
}

TEST(Compiling, AGlimpseOfBuildingDoesNotMakeStepsCompile) {
  Compiling compiling;
  compiling.account_of(look(Activity::kTrace, 7), 1.0);
  compiling.account_of(look(Activity::kTrace, 7), 1.4);
  compiling.account_of(look(Activity::kTrace, 7), 3.0);  // fit() is one line for all its steps
  EXPECT_EQ(compiling.account_of(look(Activity::kStep, 7), 3.1), Account::kComputes);
}

TEST(Compiling, AStepOfAnotherLineIsAStep) {
  Compiling compiling;
  compiling.account_of(look(Activity::kTrace, 7), 1.0);
  compiling.account_of(look(Activity::kTrace, 7), 1.4);
  EXPECT_EQ(compiling.account_of(look(Activity::kUser, 6), 1.5), Account::kComputes);
  EXPECT_EQ(compiling.account_of(look(Activity::kStep, 7), 1.6), Account::kComputes);
}

}  // namespace
}  // namespace headway
