#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>

#include "headway/data/dataset.h"
#include "headway/data/element_codec.h"
#include "headway/io/temp_folder.h"

namespace headway {
namespace {

// A dataset that counts how often an element is made.
struct Counted {
  std::shared_ptr<std::atomic<int>> made = std::make_shared<std::atomic<int>>(0);
  Dataset dataset(bool indexed) const {
    const Dataset d = range(20).map([made = made](int64_t x) {
      ++*made;
      return x * x;
    });
    return indexed ? d : d.filter([](int64_t) { return true; });
  }
};

int64_t sum_of(const Dataset& dataset) {
  return dataset.with_options({.threads = 2})
      .reduce(int64_t{0},
              [](int64_t total, const Element& e) { return total + e.only().item<int64_t>(); });
}

TEST(Cache, MakesEachElementOnce) {
  for (const bool indexed : {true, false}) {
    const Counted counted;
    const Dataset cached = counted.dataset(indexed).cache();
    EXPECT_EQ(sum_of(cached), 2470);
    EXPECT_EQ(sum_of(cached), 2470);
    EXPECT_EQ(sum_of(cached.shuffle().repeat(3)), 3 * 2470);
    EXPECT_EQ(counted.made->load(), 20);
  }
}

TEST(Cache, InAFileOutlivesTheProgram) {
  const TempFolder folder;
  for (const bool indexed : {true, false}) {
    const std::string file = folder.path(indexed ? "indexed" : "stream");
    const Counted first, second;
    EXPECT_EQ(sum_of(first.dataset(indexed).cache(file)), 2470);
    EXPECT_EQ(sum_of(second.dataset(indexed).cache(file)), 2470);
    EXPECT_EQ(second.made->load(), 0);
  }
}

TEST(Cache, KeepsTheValidPartWhenItsFileWasCutShort) {
  const TempFolder folder;
  for (const bool indexed : {true, false}) {
    const std::string file = folder.path(indexed ? "indexed" : "stream");
    EXPECT_EQ(sum_of(Counted().dataset(indexed).cache(file)), 2470);
    std::filesystem::resize_file(file, std::filesystem::file_size(file) * 3 / 4);
    const Counted after;
    EXPECT_EQ(sum_of(after.dataset(indexed).cache(file)), 2470);
    EXPECT_LT(after.made->load(), indexed ? 12 : 21);
    const Counted again;
    EXPECT_EQ(sum_of(again.dataset(indexed).cache(file)), 2470);
    EXPECT_EQ(again.made->load(), 0);
  }
}

TEST(Cache, StoppedHalfWayGoesOnLater) {
  const TempFolder folder;
  const std::string file = folder.path("cache");
  {
    Pipeline run = Counted().dataset(false).cache(file).with_options({.threads = 0}).start();
    for (int i = 0; i < 5; ++i) run.next();
  }
  EXPECT_EQ(sum_of(Counted().dataset(false).cache(file)), 2470);
}

TEST(Cache, OfAnotherPipelineIsRefusedWithBothShown) {
  const TempFolder folder;
  const std::string file = folder.path("cache");
  sum_of(range(3).cache(file));
  try {
    sum_of(range(4).cache(file));
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(e.problem().find("range(0, 3, 1)"), std::string::npos) << e.what();
    EXPECT_NE(e.problem().find("range(0, 4, 1)"), std::string::npos) << e.what();
  }
}

TEST(Cache, ADamagedElementIsFoundByItsCrc) {
  const TempFolder folder;
  const std::string file = folder.path("cache");
  sum_of(range(3).cache(file));
  std::string bytes = folder.read("cache");
  bytes[bytes.size() - 3] ^= 1;
  folder.write("cache", bytes);
  EXPECT_THROW(sum_of(range(3).cache(file)), Error);
}

TEST(ElementCodec, KeepsEveryKindOfValue) {
  Element e;
  e.set("image", Tensor::empty(DType::kUInt8, {2, 3, 3}));
  std::ranges::fill(e["image"].values<uint8_t>(), 7);
  e.set("name", Tensor::string("a\0b"));
  e.set("words", Tensor::strings(std::vector<std::string>{"x", ""}));
  e.set("weight", Tensor::scalar<double>(0.5));
  e.set_origin(std::make_shared<const std::string>("file"), 3);
  std::string bytes;
  encode_element(e, bytes);
  const Element back = decode_element(bytes);
  EXPECT_TRUE(back.same(e));
  EXPECT_EQ(back.origin().str(), "file at byte 3");
  for (size_t n = 0; n < bytes.size(); ++n)
    EXPECT_THROW(decode_element(bytes.substr(0, n)), Error) << n;
}

}  // namespace
}  // namespace headway
