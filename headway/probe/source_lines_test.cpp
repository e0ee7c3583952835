#include "headway/probe/source_lines.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace headway {
namespace {

std::vector<std::string> endless_in(const std::string& source) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("headway_source_{}.py", getpid());
  std::ofstream(path) << source;
  SourceLines sources(getpid());
  const std::vector<std::string> found = sources.endless_generators(path);
  std::filesystem::remove(path);
  return found;
}

TEST(SourceLines, AGeneratorThatYieldsForEverIsFoundByItsText) {
  EXPECT_EQ(endless_in("def batches():\n"
                       "    while True:\n"
                       "        for x in data:\n"
                       "            yield x\n"),
            std::vector<std::string>{"batches"});
}

TEST(SourceLines, OneThatEndsIsNot) {
  EXPECT_TRUE(endless_in("def batches():\n"
                         "    for x in data:\n"
                         "        yield x\n"
                         "while True:\n"
                         "    pass\n")
                  .empty());
}

TEST(SourceLines, NorOneThatIsCutShort) {
  EXPECT_TRUE(endless_in("def batches():\n"
                         "    while True:\n"
                         "        yield 1\n"
                         "data = islice(batches(), 10)\n")
                  .empty());
}

}  // namespace
}  // namespace headway
