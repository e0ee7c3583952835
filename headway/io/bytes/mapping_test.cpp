#include "headway/io/bytes/mapping.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <memory>
#include <string>

#include "headway/core/file_counters.h"
#include "headway/core/random.h"
#include "headway/io/bytes/file.h"
#include "headway/io/bytes/temp_folder.h"
#include "headway/io/records/text.h"
#include "headway/io/records/tfrecord.h"
#include "headway/io/records/tfrecord_writer.h"

namespace headway {
namespace {

constexpr size_t kMegabyte = size_t{1} << 20;

struct Drop {
  void operator()(Storage* storage) const { storage->drop(); }
};
using Bytes = std::unique_ptr<Storage, Drop>;

std::string_view view_of(const Bytes& bytes) {
  return {static_cast<const char*>(bytes->data()), bytes->size_bytes()};
}

std::string noise(size_t size, uint64_t seed = 1) {
  Random random(seed, 0, 0, 0);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(1 + random.below(255));
  return bytes;
}

int64_t major_faults() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_majflt;
}

class Mapping : public testing::Test {
 protected:
  // A few that are short, one that is longer than any window, and many of all sizes.
  std::vector<std::string> write_records(const std::string& path) {
    Random random(2, 0, 0, 0);
    std::vector<std::string> records = {"one", "", noise(9 * kMegabyte)};
    while (records.size() < 80) records.push_back(noise(random.below(300'000), records.size()));
    TFRecordWriter writer(path);
    for (const std::string& record : records) writer.write(record);
    writer.close();
    return records;
  }

  TempFolder temp_;
};

TEST_F(Mapping, ShowsTheBytesOfTheFileAndKeepsThem) {
  const std::string bytes = noise(3 * kMegabyte);
  const std::string path = temp_.write("a", bytes);
  auto file = std::make_unique<File>(path);
  const Bytes part(file->map(12'345, kMegabyte));
  ASSERT_TRUE(part);
  static_cast<char*>(part->data())[0] = 'x';
  EXPECT_EQ(temp_.read("a"), bytes) << "writing to them must not change the file";
  file.reset();
  std::filesystem::remove(path);
  EXPECT_EQ(view_of(part).substr(1), std::string_view(bytes).substr(12'346, kMegabyte - 1));
}

TEST_F(Mapping, RefusesWhatLiesBehindTheEnd) {
  const File file(temp_.write("a", noise(10'000)));
  EXPECT_EQ(file.map(0, 20'000), nullptr);
  EXPECT_EQ(file.map(kMegabyte, 1), nullptr);
}

TEST_F(Mapping, AFileCutShortLeavesZerosInsteadOfEndingTheProcess) {
  const std::string bytes = noise(2 * kMegabyte);
  const std::string path = temp_.write("a", bytes);
  const Bytes all(File(path).map(0, bytes.size()));
  ASSERT_TRUE(all);
  std::filesystem::resize_file(path, 4096);
  EXPECT_EQ(view_of(all).substr(0, 4096), std::string_view(bytes).substr(0, 4096));
  EXPECT_EQ(view_of(all).find_first_not_of('\0', 4096), std::string_view::npos);
}

TEST_F(Mapping, OtherBusErrorsStillEndTheProcess) {
  const File file(temp_.write("a", noise(10'000)));
  EXPECT_DEATH(
      {
        const Bytes bytes(file.map(0, 10'000));
        raise(SIGBUS);
      },
      "");
}

TEST_F(Mapping, RecordsAreReadAcrossWindowsAndOutliveTheirReader) {
  const std::string path = temp_.path("a.tfrecord");
  const std::vector<std::string> written = write_records(path);
  std::vector<Tensor> kept;
  const int64_t reads_before = file_counters().reads, faults_before = major_faults();
  {
    TFRecordReader reader(path);
    for (Record record; reader.next(record);) kept.push_back(record.tensor());
  }
  const int64_t reads = file_counters().reads - reads_before;
  const bool was_cached = major_faults() == faults_before;
  std::filesystem::remove(path);
  ASSERT_EQ(kept.size(), written.size());
  for (size_t i = 0; i < kept.size(); ++i)
    EXPECT_TRUE(kept[i].values<std::string_view>()[0] == written[i]) << "record " << i;
  if (!was_cached) GTEST_SKIP() << "the file left the page cache, so it was read and not mapped";
  EXPECT_LT(reads, int64_t(written.size()) / 2) << "copied";
}

TEST_F(Mapping, AFileCutShortWhileItsRecordsAreReadIsAnError) {
  const std::string path = temp_.path("a.tfrecord");
  const std::vector<std::string> written = write_records(path);
  TFRecordReader reader(path);
  Record record;
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(reader.next(record));  // the fourth is in a new window
  std::filesystem::resize_file(path, 10 * kMegabyte);            // which reaches beyond this
  size_t read = 4;
  EXPECT_THROW(
      while (reader.next(record)) {
        ASSERT_TRUE(record.bytes == written[read]);
        ++read;
      },
      SampleError);
  EXPECT_LT(read, written.size());
}

// Nothing in a text file tells zeros from text: it is never mapped.
TEST_F(Mapping, ATextFileCutShortIsShorterAndHasNoZeros) {
  std::string text;
  while (text.size() < 4 * kMegabyte) text += "a line of text\n";
  const std::string path = temp_.write("a.txt", text);
  TextReader reader(path);
  Record line;
  ASSERT_TRUE(reader.next(line));
  std::filesystem::resize_file(path, kMegabyte / 2);  // inside what a first window would hold
  size_t lines = 1;
  for (; reader.next(line); ++lines) ASSERT_EQ(line.bytes.find('\0'), std::string_view::npos);
  EXPECT_LT(lines * 15, text.size());
}

}  // namespace
}  // namespace headway
