#include "headway/core/tensor.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(Tensor, OwnsItsValuesAfterwardsWhoeverSharedThem) {
  Tensor one = Tensor::vector<float>({1, 2}), other = one;
  const void* before = one.data();
  other.own_values();
  other.values<float>()[0] = 9;
  EXPECT_EQ(one.values<float>()[0], 1);
  EXPECT_EQ(other.values<float>()[0], 9);
  one.own_values();  // by now nobody shares them
  EXPECT_EQ(one.data(), before);
}

TEST(Tensor, AScalarLivesInPlace) {
  const Tensor t = Tensor::scalar<float>(2.5f);
  EXPECT_EQ(t.rank(), 0);
  EXPECT_EQ(t.count(), 1);
  EXPECT_EQ(t.item<float>(), 2.5f);
  EXPECT_EQ(t.storage(), nullptr);
}

TEST(Tensor, CopiesShareTheirValues) {
  Tensor a = Tensor::vector<int64_t>({1, 2, 3});
  const Tensor b = a;
  a.values<int64_t>()[1] = 7;
  EXPECT_EQ(b.values<int64_t>()[1], 7);
}

TEST(Tensor, ARowIsAViewThatKeepsItsStorageAlive) {
  Tensor row;
  {
    Tensor t = Tensor::empty(DType::kInt32, {2, 3});
    for (int i = 0; i < 6; ++i) t.values<int32_t>()[i] = i;
    row = t.row(1);
  }
  EXPECT_EQ(row.shape(), Shape({3}));
  EXPECT_EQ(row.values<int32_t>()[2], 5);
}

TEST(Tensor, MemoryOfOthersIsGivenBackOnce) {
  int released = 0;
  std::array<float, 4> mine{1, 2, 3, 4};
  {
    Storage* owner = Storage::adopt(mine.data(), sizeof mine, [&](void*, size_t) { ++released; });
    const Tensor a = Tensor::view(DType::kFloat32, {4}, mine.data(), owner);
    owner->drop();
    const Tensor b = a;
    EXPECT_EQ(b.data(), mine.data());
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(Tensor, StringsOwnTheirBytes) {
  const std::vector<std::string> words{"", "a", std::string("with\0zero", 9)};
  const Tensor t = Tensor::strings(words);
  for (size_t i = 0; i < words.size(); ++i) EXPECT_EQ(t.values<std::string_view>()[i], words[i]);
  EXPECT_EQ(Tensor::string("hello").bytes(), "hello");
}

TEST(Tensor, ReadingAsAnotherTypeSaysBoth) {
  const Tensor t = Tensor::scalar<float>(1);
  try {
    t.item<int64_t>();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.problem(), "a tensor of type float32 was read as int64");
  }
}

TEST(Tensor, SameMeansEveryBit) {
  const Tensor a = Tensor::vector<float>({1, 2});
  EXPECT_TRUE(a.same(Tensor::vector<float>({1, 2})));
  EXPECT_FALSE(a.same(Tensor::vector<float>({1, 3})));
  EXPECT_FALSE(a.same(Tensor::vector<float>({1, 2}).reshaped({2, 1})));
  EXPECT_FALSE(a.same(Tensor::vector<double>({1, 2})));
}

TEST(Tensor, ReshapeRefusesAnotherCount) {
  EXPECT_THROW(Tensor::vector<float>({1, 2}).reshaped({3}), Error);
  EXPECT_EQ(Tensor::scalar<int32_t>(4).reshaped({1, 1}).values<int32_t>()[0], 4);
  EXPECT_EQ(Tensor::string("x").reshaped({1}).values<std::string_view>()[0], "x");
}

TEST(Tensor, CompactLetsGoOfALargeBlock) {
  Storage* block = Storage::allocate(1 << 20);
  const Tensor small = Tensor::string_view_of({static_cast<char*>(block->data()), 10}, block);
  const Tensor large = Tensor::string_view_of({static_cast<char*>(block->data()), 1 << 20}, block);
  block->drop();
  EXPECT_NE(small.compact().storage(), small.storage());
  EXPECT_TRUE(small.compact().same(small));
  EXPECT_EQ(large.compact().storage(), large.storage());
  const Tensor row = Tensor::empty(DType::kFloat32, {1000, 2}).row(5);
  EXPECT_LT(row.compact().storage() ? row.compact().storage()->size_bytes() : 0, 100u);
}

TEST(Shape, HasAtMostSixDimensions) {
  EXPECT_EQ(Shape({2, 3}).with_outer(5).str(), "5x2x3");
  EXPECT_EQ(Shape({2, 3}).without_outer().str(), "3");
  EXPECT_EQ(Shape().str(), "scalar");
  EXPECT_THROW(Shape({1, 1, 1, 1, 1, 1}).with_outer(1), Error);
}

}  // namespace
}  // namespace headway
