#include "headway/doctor/blocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace headway {
namespace {

TEST(RatioOf, BlocksThatAreAllAlikeIsCertain) {
  const Estimate rate = ratio_of({5, 5, 10}, {1, 1, 2});
  EXPECT_DOUBLE_EQ(rate.value, 5);
  EXPECT_DOUBLE_EQ(rate.low, 5);
  EXPECT_DOUBLE_EQ(rate.high, 5);
}

TEST(RatioOf, OneBlockSaysNothingOfItsError) {
  const Estimate rate = ratio_of({5}, {1});
  EXPECT_DOUBLE_EQ(rate.value, 5);
  EXPECT_DOUBLE_EQ(rate.low, 0);
  EXPECT_TRUE(std::isinf(rate.high));
}

TEST(RatioOf, HoldsTheTruthInNineteenOfTwentySeries) {
  std::mt19937 random(7);
  std::poisson_distribution<int> steps(30);
  constexpr int kSeries = 1000;
  int held = 0;
  for (int i = 0; i < kSeries; ++i) {
    std::vector<double> parts(40), weights(40, 1.0);
    for (double& part : parts) part = steps(random);
    const Estimate rate = ratio_of(parts, weights);
    held += rate.low <= 30 && 30 <= rate.high;
  }
  EXPECT_NEAR(double(held) / kSeries, 0.95, 0.02);
}

TEST(RatioOf, SlowChangesWidenTheInterval) {
  std::vector<double> quick, slow;
  for (int i = 0; i < 40; ++i) quick.push_back(i % 2), slow.push_back(i / 10 % 2);
  const std::vector<double> weights(40, 1.0);
  const Estimate a = ratio_of(quick, weights), b = ratio_of(slow, weights);
  EXPECT_DOUBLE_EQ(a.value, b.value);
  EXPECT_GT(b.high - b.low, 2 * (a.high - a.low));
}

}  // namespace
}  // namespace headway
