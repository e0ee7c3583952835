#include "headway/train/learn/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "headway/core/error.h"

namespace headway {
namespace {

TEST(Optimizer, HasKerasDefaults) {
  EXPECT_EQ(SGD().learning_rate.at(0), 0.01);
  EXPECT_EQ(Adam().learning_rate.at(0), 0.001);
  EXPECT_EQ(Adam().weight_decay, 0);
  EXPECT_EQ(AdamW().weight_decay, 0.004);
  EXPECT_EQ(RMSprop().rho, 0.9);
  EXPECT_EQ(Optimizer().kind, Optimizer::Kind::kRMSprop);
}

TEST(Optimizer, CountsWhatItKeepsPerWeight) {
  EXPECT_EQ(SGD(0.1).slots(), 0);
  EXPECT_EQ(SGD({.momentum = 0.9}).slots(), 1);
  EXPECT_EQ(Adam(0.1).slots(), 2);
  EXPECT_EQ(Adam({.amsgrad = true}).slots(), 3);
  EXPECT_EQ(RMSprop(0.1).slots(), 1);
  EXPECT_EQ(RMSprop({.momentum = 0.5, .centered = true}).slots(), 3);
}

TEST(Optimizer, SaysWhatItDoes) {
  EXPECT_EQ(Adam().describe(), "adam, learning rate 0.001");
  EXPECT_EQ(AdamW(1e-4).describe(), "adamw, learning rate 0.0001, weight decay 0.004");
  EXPECT_EQ(
      SGD({.learning_rate = 0.1, .momentum = 0.9, .nesterov = true, .clip = {.by_global_norm = 1}})
          .describe(),
      "sgd, learning rate 0.1, nesterov momentum 0.9, global norm clipped at 1");
}

TEST(Optimizer, RefusesWhatCannotBe) {
  EXPECT_THROW(SGD({.momentum = 1.5}), Error);
  EXPECT_THROW(Adam({.beta_1 = -0.1}), Error);
  EXPECT_THROW(AdamW({.weight_decay = -1}), Error);
  EXPECT_THROW(SGD({.momentum = std::nan("")}), Error);
  EXPECT_THROW(AdamW({.weight_decay = HUGE_VAL}), Error);
  EXPECT_THROW(RMSprop({.epsilon = -1}), Error);
}

TEST(Optimizer, ClipsInOneWayOnly) {
  EXPECT_NO_THROW(SGD({.clip = {.by_norm = 1}}));
  EXPECT_THROW(SGD({.clip = {.by_value = 1, .by_norm = 1}}), Error);
}

}  // namespace
}  // namespace headway
