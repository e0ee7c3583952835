#include "headway/probe/output/line_counters.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(LineCounters, FindTheNumberThatRisesFromLineToLine) {
  LineCounters counters;
  std::optional<int64_t> found;
  for (int i = 1; i <= 5; ++i)
    found = counters.count_in(fmt::format("epoch 1 rows {} rmse {:.3f}", 500 * i, 1.0 / i));
  EXPECT_EQ(found, 2500);
}

TEST(LineCounters, KnowOneThatBeginsAnew) {
  LineCounters counters;
  std::optional<int64_t> found;
  for (int round = 0; round < 3; ++round)
    for (int sweep = 1; sweep <= 8; ++sweep)
      found = counters.count_in(fmt::format("start {} sweep {} rmse 0.5", round, sweep));
  EXPECT_EQ(found, 8);
}

TEST(LineCounters, TakeNoEpochForOne) {
  LineCounters counters;
  for (int i = 1; i <= 9; ++i)
    EXPECT_EQ(counters.count_in(fmt::format("Epoch {} loss 0.5", i)), std::nullopt);
}

TEST(LineCounters, TakeNoNumberThatOnlyWobbles) {
  LineCounters counters;
  for (int i = 1; i <= 9; ++i)
    EXPECT_EQ(counters.count_in(fmt::format("loss 0.5, {} ms", 20 + i % 2)), std::nullopt);
}

TEST(LineCounters, WaitUntilItHasRisenAFewTimes) {
  LineCounters counters;
  EXPECT_EQ(counters.count_in("seen 10 loss 1"), std::nullopt);
  EXPECT_EQ(counters.count_in("seen 20 loss 1"), std::nullopt);
}

}  // namespace
}  // namespace headway
