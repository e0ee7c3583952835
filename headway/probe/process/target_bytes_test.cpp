#include "headway/probe/process/target_bytes.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(TargetBytes, GiveOnlyWhatWasRead) {
  const char read[12] = {1, 0, 0, 0, 2};
  const TargetBytes bytes(read, sizeof read);
  EXPECT_EQ(bytes.get(TargetField<int>(4)), 2);
  EXPECT_EQ(bytes.get(TargetField<int>(8)), 0);
  EXPECT_FALSE(bytes.get(TargetField<int>(9)));
  EXPECT_FALSE(bytes.get(TargetField<uint64_t>(8)));
  EXPECT_FALSE(bytes.at<char>(~uint64_t{0}));
}

TEST(TargetBytes, AFieldFartherThanAnyStructureReachesIsNone) {
  EXPECT_TRUE(TargetField<int>(1 << 20));
  for (const uint64_t far : {(uint64_t{1} << 20) + 1, uint64_t{1} << 31, ~uint64_t{0}}) {
    EXPECT_FALSE(TargetField<int>(far));
    EXPECT_EQ(TargetField<int>(far).in(4096), 0u);
  }
}

}  // namespace
}  // namespace headway
