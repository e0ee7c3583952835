#include "headway/io/records/tfrecord.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "headway/io/bytes/deflate.h"
#include "headway/io/bytes/temp_folder.h"
#include "headway/io/records/tfrecord_format.h"
#include "headway/io/records/tfrecord_writer.h"

namespace headway {
namespace {

using Records = std::vector<std::string>;

std::string framed(std::string_view bytes) {
  std::string out(tfrecord::kHeaderBytes, '\0');
  tfrecord::put_header(bytes.size(), out.data());
  out += bytes;
  char crc[tfrecord::kFooterBytes];
  tfrecord::put_crc(bytes, crc);
  return out.append(crc, sizeof crc);
}

std::string framed(const Records& records) {
  std::string out;
  for (const std::string& record : records) out += framed(record);
  return out;
}

struct Read {
  Records records;
  std::vector<SampleError> errors;
};

// Everything that can be had, and every complaint on the way.
Read read_through(const std::string& path, TFRecordOptions options = {}) {
  Read read;
  TFRecordReader reader(path, options);
  Record record;
  constexpr int kNeverSoMany = 100'000;
  for (int i = 0; i < kNeverSoMany; ++i) {
    try {
      if (!reader.next(record)) return read;
      read.records.emplace_back(record.bytes);
    } catch (const SampleError& e) {
      read.errors.push_back(e);
    }
  }
  ADD_FAILURE() << path << ": no end";
  return read;
}

bool is_subsequence(const Records& part, const Records& whole) {
  size_t at = 0;
  for (const std::string& record : whole) at += at < part.size() && part[at] == record;
  return at == part.size();
}

class TFRecord : public testing::Test {
 protected:
  std::string write(const Records& records, TFRecordWriterOptions options = {}) {
    TFRecordWriter writer(temp_.path("a.tfrecord"), options);
    for (const std::string& record : records) writer.write(record);
    writer.close();
    return temp_.path("a.tfrecord");
  }
  TempFolder temp_;
};

const Records kFew = {"one", "", "three", std::string(300, 'x'), "last"};

TEST_F(TFRecord, GivesBackWhatWasWrittenInEveryCompression) {
  for (Compression c : {Compression::kNone, Compression::kGzip, Compression::kZlib}) {
    const Read read = read_through(write(kFew, {.compression = c}));
    EXPECT_EQ(read.records, kFew) << name_of(c);
    EXPECT_TRUE(read.errors.empty());
  }
}

TEST_F(TFRecord, PlainFileLiesAsTheFormatSays) {
  write(kFew);
  EXPECT_EQ(temp_.read("a.tfrecord"), framed(kFew));
}

TEST_F(TFRecord, RecordsOfEverySizeCrossBlocksUnharmed) {
  Records records;
  for (size_t size = 0; size < 3'000'000; size = size * 3 / 2 + 1) {
    records.push_back(std::string(size, static_cast<char>('a' + size % 26)));
  }
  for (Compression c : {Compression::kNone, Compression::kGzip}) {
    EXPECT_EQ(read_through(write(records, {.compression = c})).records, records);
  }
}

TEST_F(TFRecord, AnEmptyFileHasNoRecords) {
  EXPECT_TRUE(read_through(temp_.write("empty", "")).records.empty());
  EXPECT_TRUE(read_through(write({}, {.compression = Compression::kGzip})).records.empty());
  EXPECT_TRUE(read_through(write({}, {.compression = Compression::kZlib})).records.empty());
}

TEST_F(TFRecord, TensorsOutliveTheReader) {
  std::vector<Tensor> tensors;
  {
    TFRecordReader reader(write({"first", std::string(500'000, 'y'), "third"}));
    Record record;
    while (reader.next(record)) tensors.push_back(record.tensor());
  }
  EXPECT_EQ(tensors[0].bytes(), "first");
  EXPECT_EQ(tensors[1].bytes(), std::string(500'000, 'y'));
  EXPECT_EQ(tensors[2].bytes(), "third");
}

TEST_F(TFRecord, AWrongDataCrcCostsThatRecordOnly) {
  std::string bytes = framed(kFew);
  bytes[framed(kFew[0]).size() + framed(kFew[1]).size() + 12] ^= 1;
  const Read read = read_through(temp_.write("bad", bytes));
  EXPECT_EQ(read.records, (Records{"one", "", kFew[3], "last"}));
  ASSERT_EQ(read.errors.size(), 1u);
  EXPECT_EQ(read.errors[0].origin().offset, 19 + 16);
  EXPECT_EQ(read.errors[0].origin().file, temp_.path("bad"));
  EXPECT_EQ(read.errors[0].reason(), "a record of 5 bytes is damaged: its checksum (CRC) is wrong");
  EXPECT_FALSE(read.errors[0].hint().empty());
}

TEST_F(TFRecord, AWrongLengthCrcIsPassedByLookingForTheNextHeader) {
  std::string bytes = framed(kFew);
  bytes[framed(kFew[0]).size() + framed(kFew[1]).size()] ^= 1;
  TFRecordReader reader(temp_.write("bad", bytes));
  Record record;
  EXPECT_TRUE(reader.next(record) && reader.next(record));
  EXPECT_THROW(reader.next(record), SampleError);
  EXPECT_EQ(reader.tell(), 19u + 16 + 21);
  EXPECT_TRUE(reader.next(record));
  EXPECT_EQ(record.bytes, kFew[3]);
  EXPECT_EQ(record.offset, 19 + 16 + 21);
}

TEST_F(TFRecord, TellLeavesWhatItMeetsForNextToReport) {
  std::string content = framed("good");
  content[0] ^= 1;
  Deflater deflater(Compression::kGzip);
  std::string bytes;
  deflater.write(content, bytes);
  deflater.flush(bytes);  // and no end: the gzip data is cut short behind the damaged record
  TFRecordReader reader(temp_.write("bad", bytes));
  Record record;
  EXPECT_THROW(reader.next(record), SampleError);
  EXPECT_EQ(reader.tell(), content.size());
  EXPECT_THROW(reader.next(record), SampleError);
  EXPECT_FALSE(reader.next(record));
}

TEST_F(TFRecord, EveryDamagedByteIsFoundAndCostsItsRecordOnly) {
  const std::string good = framed(kFew);
  for (size_t i = 0; i < good.size(); ++i) {
    for (int flip : {1, 0x80, 0xff}) {
      std::string bad = good;
      bad[i] ^= static_cast<char>(flip);
      const Read read = read_through(temp_.write("bad", bad));
      EXPECT_EQ(read.errors.size(), 1u) << "byte " << i;
      EXPECT_EQ(read.records.size(), kFew.size() - 1) << "byte " << i;
      EXPECT_TRUE(is_subsequence(read.records, kFew)) << "byte " << i;
    }
  }
}

TEST_F(TFRecord, NoFlippedByteOfACompressedFileGivesAFalseRecord) {
  for (Compression c : {Compression::kGzip, Compression::kZlib}) {
    write(kFew, {.compression = c});
    const std::string good = temp_.read("a.tfrecord");
    for (size_t i = 0; i < good.size(); ++i) {
      for (int flip : {1, 0x80, 0xff}) {
        std::string bad = good;
        bad[i] ^= static_cast<char>(flip);
        const Read read = read_through(temp_.write("bad", bad));
        EXPECT_TRUE(is_subsequence(read.records, kFew)) << name_of(c) << " byte " << i;
        EXPECT_TRUE(read.records == kFew || !read.errors.empty()) << name_of(c) << " byte " << i;
      }
    }
  }
}

TEST_F(TFRecord, EveryCutIsReportedOnceUnlessBetweenRecords) {
  const std::string good = framed(kFew);
  std::vector<size_t> ends = {0};
  for (const std::string& record : kFew) ends.push_back(ends.back() + framed(record).size());
  for (size_t size = 0; size <= good.size(); ++size) {
    const Read read = read_through(temp_.write("cut", good.substr(0, size)));
    const bool between = std::count(ends.begin(), ends.end(), size) > 0;
    EXPECT_EQ(read.errors.size(), between ? 0u : 1u) << size;
    const auto whole = std::upper_bound(ends.begin(), ends.end(), size) - ends.begin() - 1;
    EXPECT_EQ(read.records, Records(kFew.begin(), kFew.begin() + whole)) << size;
  }
}

TEST_F(TFRecord, EveryCutOfACompressedFileIsReported) {
  for (Compression c : {Compression::kGzip, Compression::kZlib}) {
    write(kFew, {.compression = c});
    const std::string good = temp_.read("a.tfrecord");
    for (size_t size = 1; size < good.size(); ++size) {
      const Read read = read_through(temp_.write("cut", good.substr(0, size)));
      EXPECT_EQ(read.errors.size(), 1u) << name_of(c) << " " << size;
      EXPECT_TRUE(is_subsequence(read.records, kFew));
    }
  }
}

TEST_F(TFRecord, AHugeDeclaredLengthTakesNoMemory) {
  for (uint64_t length : {uint64_t{1} << 30, uint64_t{1} << 40, UINT64_MAX, UINT64_MAX - 15}) {
    std::string bytes(tfrecord::kHeaderBytes, '\0');
    tfrecord::put_header(length, bytes.data());
    const Read read = read_through(temp_.write("huge", framed("good") + bytes + framed("lost")));
    EXPECT_EQ(read.records, Records{"good"});
    EXPECT_EQ(read.errors.size(), 1u) << length;
    EXPECT_EQ(read.errors[0].origin().offset, 20);
  }
}

TEST_F(TFRecord, ARecordAboveTheLimitIsPassedOver) {
  const Read read =
      read_through(write({"a", std::string(1000, 'b'), "c"}), {.max_record_bytes = 999});
  EXPECT_EQ(read.records, (Records{"a", "c"}));
  EXPECT_EQ(read.errors.size(), 1u);
}

TEST_F(TFRecord, SeveralGzipMembersAndZerosBehindThemAreOneFile) {
  write(kFew, {.compression = Compression::kGzip});
  write({"more"}, {.compression = Compression::kGzip, .append = true});
  Records all = kFew;
  all.push_back("more");
  EXPECT_EQ(read_through(temp_.path("a.tfrecord")).records, all);
  const std::string padded = temp_.read("a.tfrecord") + std::string(1000, '\0');
  EXPECT_EQ(read_through(temp_.write("padded", padded)).records, all);
  const Read read = read_through(temp_.write("dirty", temp_.read("a.tfrecord") + "rubbish"));
  EXPECT_EQ(read.records, all);
  EXPECT_EQ(read.errors.size(), 1u);
}

TEST_F(TFRecord, APlainFileIsNeverTakenForGzip) {
  const Records records = {std::string(0x088b1f, 'z'), std::string(0x9c78, 'z')};
  for (const std::string& record : records) {
    EXPECT_EQ(read_through(write({record})).records, Records{record});
  }
}

TEST_F(TFRecord, SeekAndTellAgreeInEveryCompression) {
  for (Compression c : {Compression::kNone, Compression::kGzip, Compression::kZlib}) {
    TFRecordReader reader(write(kFew, {.compression = c}));
    Record record;
    std::vector<uint64_t> starts;
    for (size_t i = 0; i < kFew.size(); ++i) {
      starts.push_back(reader.tell());
      ASSERT_TRUE(reader.next(record));
    }
    for (size_t i : {3, 0, 4, 1, 2}) {
      reader.seek(starts[i]);
      ASSERT_TRUE(reader.next(record));
      EXPECT_EQ(record.bytes, kFew[i]);
      EXPECT_EQ(record.offset, static_cast<int64_t>(starts[i]));
    }
  }
}

TEST_F(TFRecord, AppendingToAPlainFileContinuesIt) {
  write({"a"});
  write({"b"}, {.append = true});
  EXPECT_EQ(temp_.read("a.tfrecord"), framed(Records{"a", "b"}));
}

TEST_F(TFRecord, WhatWasFlushedCanBeReadBeforeTheFileIsClosed) {
  for (Compression c : {Compression::kNone, Compression::kGzip, Compression::kZlib}) {
    TFRecordWriter writer(temp_.path("open"), {.compression = c});
    writer.write("early");
    writer.flush();
    TFRecordReader reader(temp_.path("open"), {.compression = c});
    Record record;
    ASSERT_TRUE(reader.next(record));
    EXPECT_EQ(record.bytes, "early");
    writer.write("late");
    writer.close();
    EXPECT_EQ(read_through(temp_.path("open")).records, (Records{"early", "late"}));
  }
}

TEST_F(TFRecord, ReadingGoesOnWhenTheFileGrowsAndEndsWhenItShrinks) {
  TFRecordReader reader(write({"a", "b", std::string(400'000, 'c'), "d"}));
  Record record;
  ASSERT_TRUE(reader.next(record));
  std::filesystem::resize_file(temp_.path("a.tfrecord"), 17 + 17 + 100'000);
  ASSERT_TRUE(reader.next(record));
  EXPECT_THROW(reader.next(record), SampleError);
  EXPECT_FALSE(reader.next(record));
}

TEST_F(TFRecord, RandomAccessChecksBothCrcsAndTheExpectedLength) {
  const std::string good = framed(kFew);
  const TFRecordFile file(temp_.write("a", good));
  EXPECT_EQ(file.read_at(0).bytes(), "one");
  EXPECT_EQ(file.read_at(19, 0).bytes(), "");
  EXPECT_EQ(file.read_at(35, 5).bytes(), "three");
  EXPECT_THROW(file.read_at(35, 6), SampleError);
  EXPECT_THROW(file.read_at(36), SampleError);
  EXPECT_THROW(file.read_at(good.size()), SampleError);
  EXPECT_THROW(file.read_at(0, int64_t{1} << 40), SampleError);
  for (size_t i = 0; i < framed("one").size(); ++i) {
    std::string bad = good;
    bad[i] ^= 1;
    EXPECT_THROW(TFRecordFile(temp_.write("bad", bad)).read_at(0, 3), SampleError) << i;
  }
}

TEST_F(TFRecord, ACompressedFileReadAsPlainSaysSo) {
  const Read read = read_through(write(kFew, {.compression = Compression::kGzip}),
                                 {.compression = Compression::kNone});
  ASSERT_GE(read.errors.size(), 1u);
  EXPECT_NE(read.errors[0].hint().find("gzip"), std::string::npos);
}

}  // namespace
}  // namespace headway
