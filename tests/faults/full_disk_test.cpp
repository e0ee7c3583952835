#include <gtest/gtest.h>
#include <sys/mount.h>

#include <filesystem>

#include "headway/headway.h"
#include "headway/io/bytes/temp_folder.h"
#include "headway/io/records/safetensors.h"
#include "headway/io/records/tfrecord_writer.h"

namespace headway {
namespace {

// A file system of 1 MB.
class SmallDisk {
 public:
  SmallDisk() { mounted_ = ::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=1m") == 0; }
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  std::string path(const std::string& name) const { return folder_.path(name); }

 private:
  TempFolder folder_;
  bool mounted_ = false;
};

Dataset kilobytes(int64_t count) {
  return range(count).map([](Element e) {
    Tensor bytes = Tensor::empty(DType::kUInt8, {50'000});
    std::ranges::fill(bytes.values<uint8_t>(), static_cast<uint8_t>(e.only().item<int64_t>()));
    return Element(std::move(bytes));
  });
}

TEST(FullDisk, ACacheSaysSoAndKeepsWhatIsValid) {
  const SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "no tmpfs can be mounted here (not root)";
  int64_t good = 0;
  try {
    const Dataset cached = kilobytes(100).cache(disk.path("cache")).with_options({.threads = 2});
    for (const Element& e : cached) good += e.only().count() == 50'000;
    FAIL() << "5 MB went into 1 MB";
  } catch (const Error& e) {
    EXPECT_NE(e.problem().find("No space left"), std::string::npos) << e.what();
    EXPECT_FALSE(e.hint().empty());
  }
  EXPECT_GT(good, 5);
  const Dataset again = kilobytes(100).cache(disk.path("cache"));
  EXPECT_TRUE(again.at(0).same(kilobytes(100).at(0)));
}

TEST(FullDisk, WritingRecordsSaysSo) {
  const SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "no tmpfs can be mounted here (not root)";
  TFRecordWriter writer(disk.path("a.tfrecord"));
  EXPECT_THROW(
      {
        for (int i = 0; i < 100; ++i) writer.write(std::string(50'000, 'x'));
        writer.close();
      },
      Error);
}

TEST(FullDisk, ASafetensorsFileKeepsItsLastContent) {
  const SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "no tmpfs can be mounted here (not root)";
  const std::string path = disk.path("a.safetensors");
  Safetensors content;
  content.tensors = {{"w", Tensor::vector<float>({1, 2})}};
  write_safetensors(path, content);
  Safetensors large;
  large.tensors = {{"w", Tensor::empty(DType::kFloat32, {1'000'000})}};
  std::ranges::fill(large.tensors[0].second.values<float>(), 1.f);
  try {
    write_safetensors(path, large);
    FAIL() << "4 MB went into 1 MB";
  } catch (const Error& e) {
    EXPECT_NE(e.problem().find("No space left"), std::string::npos) << e.what();
    EXPECT_FALSE(e.hint().empty());
  }
  EXPECT_TRUE(read_safetensors(path)["w"].same(content["w"]));
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

}  // namespace
}  // namespace headway
