#include "headway/core/buffer_pool.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(BufferPool, GivesTheSameMemoryAgain) {
  const auto pool = BufferPool::create();
  const void* first = pool->tensor(DType::kFloat32, {1 << 20}).data();
  EXPECT_EQ(pool->bytes_in_use(), 0u);
  EXPECT_EQ(pool->bytes_idle(), 4u << 20);
  EXPECT_EQ(pool->tensor(DType::kFloat32, {1 << 20}).data(), first);
}

TEST(BufferPool, ATensorOutlivesItsPool) {
  Tensor tensor;
  {
    const auto pool = BufferPool::create();
    tensor = pool->tensor(DType::kUInt8, {1 << 20});
  }
  tensor.values<uint8_t>()[(1 << 20) - 1] = 1;
}

TEST(BufferPool, SizesNoLongerAskedForDoNotPileUp) {
  const auto pool = BufferPool::create();
  for (int64_t i = 1; i <= 50; ++i) pool->tensor(DType::kUInt8, {i << 17});
  EXPECT_LE(pool->bytes_idle(), 8 * (50u << 17) + (8u << 21));
  pool->trim();
  EXPECT_EQ(pool->bytes_idle(), 0u);
}

}  // namespace
}  // namespace headway
