#include "headway/io/records/text.h"

#include <gtest/gtest.h>

#include <vector>

#include "headway/io/bytes/deflate.h"
#include "headway/io/bytes/temp_folder.h"

namespace headway {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const std::string& path, TextOptions options = {}) {
  TextReader reader(path, options);
  Lines lines;
  Record line;
  while (reader.next(line)) lines.emplace_back(line.bytes);
  return lines;
}

std::string compressed(Compression compression, std::string_view bytes) {
  Deflater deflater(compression);
  std::string out;
  deflater.write(bytes, out);
  deflater.finish(out);
  return out;
}

TEST(Text, GivesLinesWithoutTheirEnds) {
  const TempFolder temp;
  EXPECT_EQ(lines_of(temp.write("a", "one\ntwo\r\n\n\r\nlast")),
            (Lines{"one", "two", "", "", "last"}));
  EXPECT_EQ(lines_of(temp.write("a", "one\n")), (Lines{"one"}));
  EXPECT_EQ(lines_of(temp.write("a", "\n")), (Lines{""}));
  EXPECT_EQ(lines_of(temp.write("a", "")), Lines{});
}

TEST(Text, LinesOfEverySizeCrossBlocksUnharmed) {
  const TempFolder temp;
  Lines lines;
  std::string bytes;
  for (size_t size = 1; size < 2'000'000; size = size * 5 / 3 + 1) {
    lines.push_back(std::string(size, static_cast<char>('a' + size % 26)));
    bytes += lines.back() + "\n";
  }
  EXPECT_EQ(lines_of(temp.write("a", bytes)), lines);
  EXPECT_EQ(lines_of(temp.write("b", compressed(Compression::kGzip, bytes))), lines);
  EXPECT_EQ(lines_of(temp.write("c", compressed(Compression::kZlib, bytes)),
                     {.compression = Compression::kZlib}),
            lines);
}

TEST(Text, WhatLooksLikeZlibIsStillText) {
  const TempFolder temp;
  EXPECT_EQ(lines_of(temp.write("a", "x^2\n")), Lines{"x^2"});
}

TEST(Text, OffsetsLeadBackToTheirLines) {
  const TempFolder temp;
  const std::string bytes = "one\ntwo\r\nthree";
  for (const std::string& path :
       {temp.write("a", bytes), temp.write("b", compressed(Compression::kGzip, bytes))}) {
    TextReader reader(path);
    Record line;
    std::vector<uint64_t> starts;
    while (reader.next(line)) starts.push_back(static_cast<uint64_t>(line.offset));
    EXPECT_EQ(starts, (std::vector<uint64_t>{0, 4, 9}));
    reader.seek(starts[1]);
    ASSERT_TRUE(reader.next(line));
    EXPECT_EQ(line.bytes, "two");
    EXPECT_EQ(reader.tell(), starts[2]);
  }
}

// Looking for the end of this line would take an hour.
TEST(Text, ALineWithoutAnEndIsReportedAtOnce) {
  const TempFolder folder;
  const std::string path = folder.write("sparse.txt", "");
  std::filesystem::resize_file(path, uintmax_t{300} << 30);
  TextReader reader(path);
  Record line;
  EXPECT_THROW(reader.next(line), SampleError);
}

TEST(Text, ALineAboveTheLimitIsReportedAndPassedOver) {
  const TempFolder temp;
  TextReader reader(temp.write("a", "short\n" + std::string(200'000, 'x') + "\nnext\n"),
                    {.max_line_bytes = 1000});
  Record line;
  ASSERT_TRUE(reader.next(line));
  EXPECT_THROW(reader.next(line), SampleError);
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line.bytes, "next");
  EXPECT_FALSE(reader.next(line));
}

}  // namespace
}  // namespace headway
