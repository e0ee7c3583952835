#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <cstring>
#include <filesystem>

#include "headway/data/dataset.h"
#include "headway/data/element_codec.h"
#include "headway/io/bytes/crc32c.h"
#include "headway/io/bytes/temp_folder.h"

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
    Pipeline pipeline = Counted().dataset(false).cache(file).with_options({.threads = 0}).start();
    for (int i = 0; i < 5; ++i) pipeline.next();
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

// A file that does not begin like a cache, however short, belongs to somebody else.
TEST(Cache, AForeignFileIsRefusedAndLeftAsItIs) {
  const TempFolder folder;
  for (const std::string notes : {"H", "my notes", "HWCACHE", "more than the sixteen bytes"}) {
    folder.write("notes.txt", notes);
    try {
      sum_of(range(3).cache(folder.path("notes.txt")));
      ADD_FAILURE() << notes;
    } catch (const Error& e) {
      EXPECT_NE(e.problem().find("notes.txt"), std::string::npos) << e.what();
      EXPECT_FALSE(e.hint().empty());
    }
    EXPECT_EQ(folder.read("notes.txt"), notes);
  }
}

TEST(Cache, OfALaterVersionIsRefusedAndLeftAsItIs) {
  const TempFolder folder;
  const std::string file = folder.path("cache");
  sum_of(range(3).cache(file));
  std::string bytes = folder.read("cache");
  bytes[7] = '2';
  folder.write("cache", bytes);
  try {
    sum_of(range(3).cache(file));
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(e.problem().find("version '2'"), std::string::npos) << e.what();
  }
  EXPECT_EQ(folder.read("cache"), bytes);
}

TEST(Cache, KilledWhileItsHeaderWasWrittenIsBegunAgain) {
  const TempFolder folder;
  const std::string file = folder.path("cache");
  sum_of(range(3).cache(file));
  const std::string header = folder.read("cache").substr(0, 16 + range(3).describe().size());
  for (size_t n : {size_t{0}, size_t{8}, size_t{12}, size_t{16}, header.size() - 1}) {
    folder.write("cache", header.substr(0, n));
    EXPECT_EQ(sum_of(range(3).cache(file)), 3) << n;
  }
}

TEST(Cache, OnSomethingThatIsNoFileIsRefused) {
  const TempFolder folder;
  ASSERT_EQ(::mkfifo(folder.path("fifo").c_str(), 0600), 0);
  EXPECT_THROW(sum_of(range(3).cache(folder.path("fifo"))), Error);
  EXPECT_THROW(sum_of(range(3).cache("/dev/zero")), Error);
}

// What follows the header is damaged with right CRCs: whoever writes such a file means harm.
class HostileCache : public ::testing::Test {
 protected:
  void SetUp() override {
    sum_of(stream_.cache(folder_.path("cache")));
    header_ = folder_.read("cache").substr(0, 16 + stream_.describe().size());
  }
  static std::string entry(int64_t number, uint64_t length, std::string_view payload) {
    std::string bytes(24, '\0');
    const uint32_t crc = crc32c(payload);
    std::memcpy(bytes.data(), &number, 8);
    std::memcpy(bytes.data() + 8, &length, 8);
    std::memcpy(bytes.data() + 16, &crc, 4);
    const uint32_t own = crc32c({bytes.data(), 20});
    std::memcpy(bytes.data() + 20, &own, 4);
    return bytes.append(payload);
  }
  int64_t sum_with(const std::string& entries) {
    folder_.write("cache", header_ + entries);
    return sum_of(stream_.cache(folder_.path("cache")));
  }
  TempFolder folder_;
  const Dataset stream_ = range(3).filter([](int64_t) { return true; });
  std::string header_;
};

TEST_F(HostileCache, ALengthThatWrapsBackEndsTheScan) {
  for (const uint64_t back : {24, 0, 48}) {
    EXPECT_EQ(sum_with(entry(7, uint64_t{0} - back, "")), 3) << back;
  }
}

TEST_F(HostileCache, AWrongCountDoesNotCutTheDataShort) {
  for (const int64_t count : {int64_t{2}, int64_t{-1}, INT64_MAX}) {
    const std::string mark(reinterpret_cast<const char*>(&count), sizeof count);
    EXPECT_EQ(sum_with(entry(-1, sizeof count, mark)), 3) << count;
  }
}

TEST(ElementCodec, NoShapeMakesRoomForWhatIsNotThere) {
  const auto encoded = [](DType dtype, std::vector<int64_t> dims, std::string_view values) {
    std::string bytes(8 + 8, '\0');  // no origin
    const auto put = [&](auto value) {
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    put(uint32_t{1}), put(uint64_t{1}), bytes += 'x';
    put(static_cast<uint8_t>(dtype)), put(static_cast<uint8_t>(dims.size()));
    for (const int64_t dim : dims) put(dim);
    return bytes.append(values);
  };
  const int64_t big = int64_t{1} << 32;
  for (const DType dtype : {DType::kUInt8, DType::kFloat64, DType::kString}) {
    for (const std::vector<int64_t>& dims : std::vector<std::vector<int64_t>>{
             {big, big}, {big * 2, big / 2}, {-1}, {-2, -4}, {INT64_MAX}, {0, INT64_MAX, 4}}) {
      EXPECT_THROW(decode_element(encoded(dtype, dims, std::string(64, '\0'))), Error)
          << name_of(dtype) << " " << dims[0];
    }
  }
  EXPECT_THROW(decode_element(encoded(DType::kBool, {1}, "\2")), Error) << "neither true nor false";
  EXPECT_THROW(decode_element(encoded(DType::kUInt8, {1}, "ab")), Error) << "something is left";
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
