#include "headway/probe/python/torch_tensor.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <random>

#include "headway/probe/process/lying_target.h"

namespace headway {
namespace {

// The memory layout of a tensor: two counts in 16 bytes or in 8, with or without a word before the
// pointer to its object.
struct Layout {
  uint64_t counts = 16, before_object = 8, held = 24;
};
constexpr Layout kOld{}, kNew{8, 0, 16};

// A weight of 3 x 4 values, 0 to 11, with a gradient of 12 halves.
class Weight {
 public:
  explicit Weight(Layout layout) : memory(bytes_, sizeof bytes_, 0x7f1200000000) {
    object = memory.place(64);
    const uint64_t gradient = tensor(layout, 0, 0, [](int) { return 0.5F; });
    const uint64_t weight = tensor(layout, object, gradient, [](int i) { return float(i); });
    memory.put_pointer(object + layout.held, weight);
    answering = &memory;
  }
  std::vector<char> copy() const { return {bytes_, bytes_ + sizeof bytes_}; }

  LyingMemory memory;
  uint64_t object = 0;

 private:
  template <typename F>
  uint64_t tensor(Layout layout, uint64_t back, uint64_t gradient, F&& value) {
    const uint64_t data = memory.place(48), storage = memory.place(64), autograd = memory.place(64);
    const uint64_t version = memory.place(64), at = memory.place(256);
    for (int i = 0; i < 12; ++i) memory.put(data + 4 * uint64_t(i), value(i));
    const uint64_t first = 8 + layout.counts, object_at = first + 32 + layout.before_object;
    memory.put_pointer(storage + first, data);
    memory.put_pointer(autograd + 40, gradient);
    memory.put(version + first, uint32_t{7});
    memory.put(at + 8, uint64_t{1});
    memory.put_pointer(at + first, storage);
    memory.put_pointer(at + first + 8, autograd);
    memory.put_pointer(at + first + 24, version);
    memory.put_pointer(at + object_at, back);
    memory.put(at + object_at + 8, int64_t{2});
    memory.put(at + object_at + 16, int64_t{3});
    memory.put(at + object_at + 24, int64_t{4});
    memory.put(at + object_at + 104, int64_t{12});
    memory.put(at + object_at + 112, uint16_t{6});
    return at;
  }

  char bytes_[8192] = {};
};

class TorchTensorTest : public testing::TestWithParam<Layout> {};

TEST_P(TorchTensorTest, IsReadWithItsGradient) {
  const Weight weight(GetParam());
  const MemoryReader memory(getpid(), &answer);
  TorchTensors tensors(memory);
  const TensorValues values(memory);
  const auto tensor = tensors.of_object(weight.object);
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->sizes, (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(tensor->version, 7u);
  ASSERT_EQ(values.some_of(*tensor, 100).size(), 12u);
  EXPECT_EQ(values.some_of(*tensor, 100)[11], 11);
  EXPECT_EQ(values.some_of(*tensor, 8).size(), 8u) << "a part of it, from all over it";
  EXPECT_FALSE(values.units_are_equal(*tensor));
  const auto gradient = tensors.at(tensor->gradient);
  ASSERT_TRUE(gradient);
  EXPECT_EQ(values.some_of(*gradient, 100)[5], 0.5);
  EXPECT_TRUE(values.units_are_equal(*gradient));
}

TEST_P(TorchTensorTest, ThatLiesNeitherCrashesNorFillsUs) {
  const Weight honest(GetParam());
  int read = 0;
  for (unsigned i = 0; i < 3000; ++i) {
    std::mt19937_64 random(i);
    std::vector<char> bytes = honest.copy();
    LyingMemory liar(honest.memory, bytes.data());
    for (uint64_t n = 1 + random() % 4; n > 0; --n) liar.lie(random);
    answering = &liar;
    const MemoryReader memory(getpid(), &answer);
    TorchTensors tensors(memory);
    const TensorValues values(memory);
    const auto tensor = tensors.of_object(honest.object);
    if (!tensor) continue;
    ++read;
    EXPECT_LE(values.some_of(*tensor, 128).size(), 128u);
    values.units_are_equal(*tensor);
    if (const auto gradient = tensors.at(tensor->gradient)) {
      EXPECT_LE(values.some_of(*gradient, 128).size(), 128u);
    }
  }
  EXPECT_GT(read, 0);
}

TEST(TorchTensors, AnythingElseIsNone) {
  const Weight weight(kOld);
  const MemoryReader memory(getpid(), &answer);
  TorchTensors tensors(memory);
  EXPECT_FALSE(tensors.of_object(0));
  EXPECT_FALSE(tensors.of_object(weight.object + 8));
  EXPECT_FALSE(tensors.at(weight.object)) << "before any tensor showed the layout";
}

INSTANTIATE_TEST_SUITE_P(Layouts, TorchTensorTest, testing::Values(kOld, kNew),
                         [](const auto& layout) { return layout.index == 0 ? "Old" : "New"; });

}  // namespace
}  // namespace headway
