#include "headway/io/bytes/block_pool.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(BlockPool, HandsOutTheBlockThatWasDroppedLast) {
  BlockPool& pool = BlockPool::shared();
  Storage* first = pool.take(300'000);
  void* memory = first->data();
  EXPECT_GE(first->size_bytes(), 300'000u);
  first->drop();
  Storage* second = pool.take(400'000);
  EXPECT_EQ(second->data(), memory);
  second->drop();
}

TEST(BlockPool, ABlockInUseIsNotHandedOutAgain) {
  BlockPool& pool = BlockPool::shared();
  Storage* block = pool.take(5000);
  const Tensor user = Tensor::string_view_of("x", block);
  block->drop();
  Storage* other = pool.take(5000);
  EXPECT_NE(other->data(), user.storage()->data());
  other->drop();
}

TEST(BlockPool, KeepsOnlySoMuch) {
  BlockPool& pool = BlockPool::shared();
  std::vector<Storage*> blocks;
  for (int i = 0; i < 80; ++i) blocks.push_back(pool.take(size_t{1} << 20));
  for (Storage* block : blocks) block->drop();
  EXPECT_LE(pool.idle_bytes(), size_t{64} << 20);
  pool.take(size_t{100} << 20)->drop();
  EXPECT_LE(pool.idle_bytes(), size_t{64} << 20);
}

}  // namespace
}  // namespace headway
