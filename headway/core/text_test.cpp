#include "headway/core/text.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(Text, CountsAreGroupedOrShortened) {
  EXPECT_EQ(with_commas(-1234567), "-1,234,567");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(count_text(9999), "9999");
  EXPECT_EQ(count_text(11'200'000), "11.2 M");
  EXPECT_EQ(count_text(999'999), "1 M");
  EXPECT_EQ(count_text(1'000'100'000'000), "1 T");
}

TEST(Text, SizesAndTimesTakeTheUnitThatFits) {
  EXPECT_EQ(size_text(812), "812 bytes");
  EXPECT_EQ(size_text(43'210'000), "43.2 MB");
  EXPECT_EQ(duration_text(0.00041), "410 us");
  EXPECT_EQ(duration_text(0.0412), "41.2 ms");
  EXPECT_EQ(duration_text(3.14159), "3.14 s");
  EXPECT_EQ(duration_text(200), "3 min 20 s");
  EXPECT_EQ(duration_text(7500), "2 h 5 min");
}

}  // namespace
}  // namespace headway
