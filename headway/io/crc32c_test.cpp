#include "headway/io/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace headway {
namespace {

TEST(Crc32c, GivesThePublishedCheckValues) {
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
}

TEST(Crc32c, OfAWholeEqualsThatOfItsPartsAtEverySplit) {
  const std::string text = "the quick brown fox jumps over the lazy dog, twice and once more";
  for (size_t i = 0; i <= text.size(); ++i) {
    EXPECT_EQ(crc32c_extend(crc32c(text.substr(0, i)), text.substr(i)), crc32c(text));
  }
}

}  // namespace
}  // namespace headway
