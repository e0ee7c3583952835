#include "headway/probe/source/slow_calls.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(SlowCalls, ACallWithAFasterWayIsKnown) {
  EXPECT_EQ(slow_call_in("np.add.at(table, rows, values)", 0), SlowCall::kScatter);
  EXPECT_EQ(slow_call_in("queue.pop(0)", 1), SlowCall::kFrontOfList);
  EXPECT_EQ(slow_call_in("loss = step(x)", 1), SlowCall::kNone);
}

TEST(SlowCalls, AnArrayGrowsOnlyInALoop) {
  EXPECT_EQ(slow_call_in("all = np.append(all, x)", 1), SlowCall::kGrowingArray);
  EXPECT_EQ(slow_call_in("all = np.append(a, b)", 0), SlowCall::kNone);
}

}  // namespace
}  // namespace headway
