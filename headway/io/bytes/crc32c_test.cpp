#include "headway/io/bytes/crc32c.h"

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

// Long ones may go another way than short ones.
TEST(Crc32c, OfLongTextsEqualsThatOfManyShortParts) {
  std::string text(70'000, '\0');
  uint32_t seed = 1;
  for (char& c : text) c = static_cast<char>((seed = seed * 1664525 + 1013904223) >> 24);
  for (const size_t size : {size_t{1023}, size_t{1024}, size_t{1025}, size_t{4096}, size_t{5000},
                            size_t{65'599}, text.size()}) {
    for (const size_t from : {size_t{0}, size_t{1}, size_t{63}}) {
      const std::string_view bytes = std::string_view(text).substr(from, size);
      uint32_t by_parts = 0;
      for (size_t at = 0; at < bytes.size(); at += 100)
        by_parts = crc32c_extend(by_parts, bytes.substr(at, 100));
      EXPECT_EQ(crc32c(bytes), by_parts) << size << " bytes from " << from;
    }
  }
}

}  // namespace
}  // namespace headway
