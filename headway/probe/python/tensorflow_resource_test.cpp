#include "headway/probe/python/tensorflow_resource.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <random>

#include "headway/probe/process/lying_target.h"

namespace headway {
namespace {

constexpr uint8_t kFloat = 1, kResource = 20;

// A variable of 3 x 4 numbers, 0 to 11, and one that is a single number, 0.5; both as they lie in
// the memory of TensorFlow 2.21.
class Variables {
 public:
  Variables() : memory(bytes_, sizeof bytes_, 0x7f1200000000) {
    uint64_t numbers = memory.place(48), number = memory.place(16);
    for (int i = 0; i < 12; ++i) memory.put(numbers + 4 * uint64_t(i), float(i));
    memory.put(number, 0.5F);
    kernel = variable({3, 4}, numbers);
    rate = variable({}, number);
    memory.place(1024);  // what is searched is larger than what is there
    answering = &memory;
  }
  std::vector<char> copy() const { return {bytes_, bytes_ + sizeof bytes_}; }

  LyingMemory memory;
  uint64_t kernel = 0, rate = 0;

 private:
  void put_tensor(uint64_t at, uint8_t type, const std::vector<uint16_t>& sizes, uint64_t data) {
    const uint64_t buffer = memory.place(32);
    memory.put_pointer(buffer + 16, data);
    int64_t values = 1;
    for (size_t i = 0; i < sizes.size(); ++i) {
      memory.put(at + 2 * i, sizes[i]);
      values *= sizes[i];
    }
    memory.put(at + 13, type);
    memory.put(at + 14, uint8_t(sizes.size()));
    memory.put(at + 16, values);
    memory.put_pointer(at + 24, buffer);
  }
  uint64_t variable(const std::vector<uint16_t>& sizes, uint64_t data) {
    const uint64_t object = memory.place(160), handle = memory.place(512);
    const uint64_t description = memory.place(320), resource = memory.place(192);
    memory.put_pointer(object + 80, handle);
    put_tensor(handle + 272, kResource, {}, description);
    memory.put_pointer(description + 192, resource);
    put_tensor(resource + 40, kFloat, sizes, data);
    return object;
  }

  char bytes_[8192] = {};
};

TEST(TensorflowResources, AVariableIsRead) {
  const Variables variables;
  const MemoryReader memory(getpid(), &answer);
  TensorflowResources resources(memory);
  EXPECT_FALSE(resources.value_behind(variables.rate)) << "before another one shows the way";
  const auto kernel = resources.value_behind(variables.kernel);
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->sizes, (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(kernel->units(), 4) << "the last dimension";
  const TensorValues values(memory);
  EXPECT_EQ(values.some_of(*kernel, 100)[11], 11);
  EXPECT_FALSE(values.units_are_equal(*kernel));
  const auto rate = resources.value_behind(variables.rate);
  ASSERT_TRUE(rate);
  EXPECT_TRUE(rate->sizes.empty());
  EXPECT_EQ(values.some_of(*rate, 1), std::vector<double>{0.5});
}

TEST(TensorflowResources, UnitsThatAreAlikeAreSeen) {
  Variables variables;
  const MemoryReader memory(getpid(), &answer);
  TensorflowResources resources(memory);
  const auto kernel = resources.value_behind(variables.kernel);
  ASSERT_TRUE(kernel);
  for (uint64_t i = 0; i < 12; ++i)  // each input has a weight of its own, equal for all units
    variables.memory.put(kernel->data + 4 * i, float(i / 4));
  EXPECT_TRUE(TensorValues(memory).units_are_equal(*kernel));
}

TEST(TensorflowResources, AnythingElseIsNone) {
  Variables variables;
  const uint64_t nothing = variables.memory.place(160), data = variables.memory.place(16);
  variables.memory.put_pointer(nothing + 80, data);
  const MemoryReader memory(getpid(), &answer);
  TensorflowResources resources(memory);
  EXPECT_FALSE(resources.value_behind(0));
  EXPECT_FALSE(resources.value_behind(nothing));
  ASSERT_TRUE(resources.value_behind(variables.kernel));
  EXPECT_FALSE(resources.value_behind(nothing)) << "with the way known, too";
  EXPECT_FALSE(resources.value_behind(variables.kernel + 8));
}

TEST(TensorflowResources, ThatLieNeitherCrashNorFillUs) {
  const Variables honest;
  int read = 0;
  for (unsigned i = 0; i < 3000; ++i) {
    std::mt19937_64 random(i);
    std::vector<char> bytes = honest.copy();
    LyingMemory liar(honest.memory, bytes.data());
    for (uint64_t n = 1 + random() % 4; n > 0; --n) liar.lie(random);
    answering = &liar;
    const MemoryReader memory(getpid(), &answer);
    TensorflowResources resources(memory);
    const TensorValues values(memory);
    for (const uint64_t handle : {honest.kernel, honest.rate}) {
      const auto tensor = resources.value_behind(handle);
      if (!tensor) continue;
      ++read;
      EXPECT_LE(values.some_of(*tensor, 128).size(), 128u);
      values.units_are_equal(*tensor);
    }
  }
  EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace headway
