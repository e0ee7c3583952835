#include "headway/io/bytes/file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "headway/core/resource_error.h"
#include "headway/io/bytes/output_file.h"
#include "headway/io/bytes/temp_folder.h"

namespace headway {
namespace {

template <typename Act>
std::string message_from(Act act) {
  try {
    act();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

std::string message_of_opening(const std::string& path) {
  return message_from([&] { File file(path); });
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

TEST(File, ReadsAnyPartAndSaysWhereItEnds) {
  const TempFolder temp;
  const File file(temp.write("a", "0123456789"));
  char bytes[20];
  EXPECT_EQ(file.size_bytes(), 10u);
  EXPECT_EQ(file.pread(3, bytes, 4), 4u);
  EXPECT_EQ(std::string(bytes, 4), "3456");
  EXPECT_EQ(file.pread(8, bytes, 20), 2u);
  file.pread_exact(0, bytes, 10);
  EXPECT_TRUE(has(message_from([&] { file.pread_exact(8, bytes, 3); }), "at byte 8"));
}

TEST(File, AMissingFileNamesTheFolderThatExists) {
  const TempFolder temp;
  const std::string message = message_of_opening(temp.path("no/such/file"));
  EXPECT_TRUE(has(message, "No such file")) << message;
  EXPECT_TRUE(has(message, temp.path() + " exists")) << message;
}

TEST(File, AFolderInPlaceOfAFileIsSaidToBeOne) {
  const TempFolder temp;
  EXPECT_TRUE(has(message_of_opening(temp.path()), "Is a directory"));
  EXPECT_TRUE(has(message_of_opening(temp.path()), temp.path() + "/*"));
  Buffer buffer;
  EXPECT_TRUE(has(message_from([&] { read_all(temp.path(), buffer); }), "Is a directory"));
}

TEST(File, AFileThatMayNotBeReadSaysHowToAllowIt) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const TempFolder temp;
  std::filesystem::permissions(temp.write("a", "x"), std::filesystem::perms::none);
  EXPECT_TRUE(has(message_of_opening(temp.path("a")), "chmod"));
}

TEST(ReadAll, GivesEveryFileWholeInOneBuffer) {
  const TempFolder temp;
  Buffer buffer;
  for (size_t size : {5000, 0, 1, 4095, 4096, 4097, 1'000'000, 3}) {
    const std::string bytes(size, static_cast<char>('a' + size % 26));
    read_all(temp.write("a", bytes), buffer);
    EXPECT_EQ(buffer.view(), bytes) << size;
  }
}

TEST(ReadAll, ReadsFilesThatDoNotTellTheirSize) {
  Buffer buffer;
  read_all("/proc/self/status", buffer);
  EXPECT_TRUE(has(std::string(buffer.view()), "VmRSS"));
}

TEST(ReadAll, TakesAFileThatGrowsAndShrinksAsItFindsIt) {
  const TempFolder temp;
  const std::string path = temp.write("a", "");
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (size_t i = 0; !stop; ++i) std::filesystem::resize_file(path, i * 7919 % 300'000);
  });
  Buffer buffer;
  for (int i = 0; i < 300; ++i) read_all(path, buffer);
  stop = true;
  writer.join();
  EXPECT_LE(buffer.size(), 300'000u);
}

TEST(ReadAll, RefusesASparseFileFarTooLargeBeforeReadingIt) {
  const TempFolder temp;
  const std::string path = temp.write("x.jpg", "");
  std::filesystem::resize_file(path, uintmax_t{300} << 30);
  Buffer buffer;
  const std::string said = message_from([&] { read_all(path, buffer); });
  EXPECT_TRUE(has(said, "x.jpg: the file has 322122547200 bytes, but at most 1073741824")) << said;
  EXPECT_LT(buffer.capacity(), 10'000u);
}

TEST(ReadAll, StopsReadingWhereAFileWithoutASizePassesTheBound) {
  Buffer buffer;
  EXPECT_TRUE(has(message_from([&] { read_all("/proc/self/maps", buffer, 100); }), "at most 100"));
}

TEST(AtomicFile, AppearsWholeOnCommitAndReplacesWhatWasThere) {
  const TempFolder temp;
  temp.write("a", "old");
  {
    AtomicFile file(temp.path("a"));
    file.write("new");
    EXPECT_EQ(temp.read("a"), "old");
    file.commit();
  }
  EXPECT_EQ(temp.read("a"), "new");
}

TEST(AtomicFile, LeavesNothingBehindWithoutCommit) {
  const TempFolder temp;
  { AtomicFile(temp.path("a")).write("half"); }
  EXPECT_TRUE(std::filesystem::is_empty(temp.path()));
  EXPECT_THROW(AtomicFile(temp.path("no/folder/a")), ResourceError);
}

TEST(AtomicFile, WhatCannotBePutInPlaceIsRemoved) {
  const TempFolder temp;
  temp.write("a/b", "a folder that is not empty cannot be replaced");
  {
    AtomicFile file(temp.path("a"));
    EXPECT_THROW(file.commit(), ResourceError);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(temp.path()), {}), 1);
}

TEST(AtomicFile, ANameAsLongAsNamesMayBeIsWritten) {
  const TempFolder temp;
  for (const size_t length : {244, 246, 255}) {
    const std::string name(length, 'n');
    AtomicFile file(temp.path(name));
    file.write("x");
    file.commit();
    EXPECT_EQ(temp.read(name), "x");
  }
}

TEST(OutputFile, AFullDeviceIsAnErrorOfTheDiskAndOfNoSample) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  OutputFile file("/dev/full", OutputFile::Mode::kAppend);
  EXPECT_TRUE(has(message_from([&] { file.write("x"); }), "free some space on that disk"));
  EXPECT_THROW(file.write("x"), ResourceError);
}

}  // namespace
}  // namespace headway
