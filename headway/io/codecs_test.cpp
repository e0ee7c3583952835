#include "headway/io/codecs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace headway {
namespace {

TEST(Codecs, EachHasAVersionAndIsAFileOrPartOfTheProgram) {
  const auto libraries = codec_libraries();
  ASSERT_EQ(libraries.size(), 3u);
  for (const CodecLibrary& each : libraries) {
    ASSERT_FALSE(each.version.empty()) << each.name;
    EXPECT_TRUE(std::isdigit(each.version[0])) << each.version;
    EXPECT_TRUE(each.file.empty() || std::filesystem::exists(each.file)) << each.file;
  }
}

TEST(Codecs, LibjpegTellsItsInterface) {
  const auto libraries = codec_libraries();
  const auto jpeg = std::ranges::find_if(
      libraries, [](const CodecLibrary& each) { return each.name.starts_with("libjpeg"); });
  ASSERT_NE(jpeg, libraries.end());
  EXPECT_NE(jpeg->note.find("interface "), std::string::npos) << jpeg->note;
}

}  // namespace
}  // namespace headway
