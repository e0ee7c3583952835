#include "headway/core/checked_size.h"

#include <gtest/gtest.h>

#include <vector>

namespace headway {
namespace {

TEST(CheckedSize, SumsAndProductsDoNotWrap) {
  EXPECT_EQ(checked_sum(UINT64_MAX - 1, 1), UINT64_MAX);
  EXPECT_EQ(checked_sum(UINT64_MAX, 1), std::nullopt);
  EXPECT_EQ(checked_product(uint64_t{1} << 32, (uint64_t{1} << 32) - 1), UINT64_MAX << 32);
  EXPECT_EQ(checked_product(uint64_t{1} << 32, uint64_t{1} << 32), std::nullopt);
}

TEST(CheckedSize, ALengthThatWrapsLiesNowhere) {
  EXPECT_TRUE(lies_within(10, 0, 10));
  EXPECT_TRUE(lies_within(3, 7, 10));
  EXPECT_FALSE(lies_within(3, 8, 10));
  EXPECT_FALSE(lies_within(11, 0, 10));
  EXPECT_FALSE(lies_within(24, UINT64_MAX - 23, 100));  // 24 + this is 0
}

TEST(CheckedSize, OfAShapeThatNoTensorCanHaveIsNothing) {
  const auto size = [](std::vector<int64_t> dims) {
    return checked_size_bytes(dims, DType::kFloat32);
  };
  EXPECT_EQ(size({}), 4u);
  EXPECT_EQ(size({2, 3}), 24u);
  EXPECT_EQ(size({0, 3}), 0u);
  EXPECT_EQ(size({-1, -6}), std::nullopt);
  EXPECT_EQ(size({int64_t{1} << 31, int64_t{1} << 31}), std::nullopt);
  EXPECT_EQ(size({INT64_MAX, 0}), std::nullopt);
}

}  // namespace
}  // namespace headway
