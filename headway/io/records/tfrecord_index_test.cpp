#include "headway/io/records/tfrecord_index.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "headway/io/bytes/temp_folder.h"
#include "headway/io/records/tfrecord.h"
#include "headway/io/records/tfrecord_writer.h"

namespace headway {
namespace {

class Index : public testing::Test {
 protected:
  // Records "0", "1" ... of growing length, some large enough to leave the scanner's window.
  std::string write(int count, TFRecordWriterOptions options = {}) {
    TFRecordWriter writer(path_, options);
    for (int i = 0; i < count; ++i) writer.write(record(i));
    writer.close();
    return path_;
  }
  static std::string record(int i) {
    return std::to_string(i) + std::string(i % 50 == 49 ? 200'000 : i % 7, '.');
  }
  TempFolder temp_;
  std::string path_ = temp_.path("a.tfrecord");
};

TEST_F(Index, WhatIsNoFileUnderItsNameIsRefusedAndLeftAlone) {
  write(3);
  ASSERT_EQ(::mkfifo(index_path(path_).c_str(), 0600), 0);
  EXPECT_THROW(index_of(path_), SampleError);
  EXPECT_TRUE(std::filesystem::is_fifo(index_path(path_)));
}

TEST_F(Index, FindsEveryRecord) {
  const TFRecordIndex index = build_index(write(200));
  const TFRecordFile file(path_);
  ASSERT_EQ(index.count(), 200u);
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(file.read_at(index.offset(i), index.length(i)).bytes(), record(i));
  }
  EXPECT_EQ(index.file_bytes(), file.size_bytes());
}

TEST_F(Index, OfAnEmptyFileIsEmpty) {
  EXPECT_EQ(build_index(write(0)).count(), 0u);
  EXPECT_EQ(index_of(path_).count(), 0u);
  EXPECT_TRUE(load_index(path_).has_value());
}

TEST_F(Index, IsTheSameBuiltLoadedOrWrittenAlong) {
  const TFRecordIndex along = *load_index(write(100, {.index = true}));
  EXPECT_EQ(along, build_index(path_));
  std::filesystem::remove(index_path(path_));
  EXPECT_FALSE(load_index(path_).has_value());
  EXPECT_EQ(index_of(path_), along);
  EXPECT_EQ(*load_index(path_), along);
}

TEST_F(Index, IsStaleOnceTheFileChanges) {
  write(10, {.index = true});
  const std::string bytes = temp_.read("a.tfrecord");
  const auto time = std::filesystem::last_write_time(path_);
  temp_.write("a.tfrecord", bytes + bytes);
  std::filesystem::last_write_time(path_, time);
  EXPECT_FALSE(load_index(path_).has_value()) << "size";
  temp_.write("a.tfrecord", bytes);
  std::filesystem::last_write_time(path_, time + std::chrono::nanoseconds(1000));
  EXPECT_FALSE(load_index(path_).has_value()) << "time";
  std::filesystem::last_write_time(path_, time);
  EXPECT_TRUE(load_index(path_).has_value());
}

TEST_F(Index, NoDamagedSidecarIsBelieved) {
  write(5, {.index = true});
  const std::string good = temp_.read("a.tfrecord.hwidx");
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] ^= 1;
    temp_.write("a.tfrecord.hwidx", bad);
    EXPECT_FALSE(load_index(path_).has_value()) << "byte " << i;
    temp_.write("a.tfrecord.hwidx", good.substr(0, i));
    EXPECT_FALSE(load_index(path_).has_value()) << "cut at " << i;
  }
}

TEST_F(Index, ACutTailAndADamagedLengthAreFound) {
  const std::string good = (write(3), temp_.read("a.tfrecord"));
  for (size_t cut = 1; cut < 17; ++cut) {
    temp_.write("a.tfrecord", good.substr(0, good.size() - cut));
    EXPECT_THROW(build_index(path_), SampleError) << cut;
  }
  std::string bad = good;
  bad[20] ^= 1;
  temp_.write("a.tfrecord", bad);
  EXPECT_THROW(build_index(path_), SampleError);
}

TEST_F(Index, ACompressedFileIsRefusedWithTheReason) {
  write(3, {.compression = Compression::kGzip});
  try {
    build_index(path_);
    FAIL();
  } catch (const SampleError& e) {
    EXPECT_NE(e.hint().find("compressed"), std::string::npos);
  }
  EXPECT_THROW(write(3, {.compression = Compression::kGzip, .index = true}), Error);
}

TEST_F(Index, AFolderThatCannotBeWrittenToIsNoObstacle) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  write(3);
  std::filesystem::permissions(temp_.path(), std::filesystem::perms(0500));
  EXPECT_EQ(index_of(path_).count(), 3u);
  std::filesystem::permissions(temp_.path(), std::filesystem::perms(0700));
}

TEST_F(Index, ASidecarThatCannotBePutInPlaceIsNoObstacle) {
  write(3);
  temp_.write("a.tfrecord.hwidx/in the way", "");
  EXPECT_EQ(index_of(path_).count(), 3u);
}

// A sidecar that is right in everything but what it counts.
TEST_F(Index, ACountThatWrapsIsNotBelieved) {
  write(5, {.index = true});
  const std::string good = temp_.read("a.tfrecord.hwidx");
  for (const uint64_t count : {UINT64_MAX, UINT64_MAX / 4, uint64_t{1} << 62, uint64_t{6}}) {
    std::string head = good.substr(0, 40);
    std::memcpy(head.data() + 32, &count, sizeof count);
    for (const size_t rest : {size_t{0}, size_t{4}, good.size() - 40}) {
      temp_.write("a.tfrecord.hwidx", head + good.substr(40, rest));
      EXPECT_FALSE(load_index(path_).has_value()) << count << " and " << rest << " bytes";
    }
  }
  EXPECT_EQ(index_of(path_).count(), 5u);
}

}  // namespace
}  // namespace headway
