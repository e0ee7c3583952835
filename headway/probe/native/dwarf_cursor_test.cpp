#include "headway/probe/native/dwarf_cursor.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(DwarfCursor, ReadsNumbersAsDwarfWritesThem) {
  const std::string bytes("\xe5\x8e\x26\x80\x7f\x7e", 6);
  DwarfCursor in(bytes);
  EXPECT_EQ(in.unsigned_number(), 624485u);
  EXPECT_EQ(in.signed_number(), -128);
  EXPECT_EQ(in.signed_number(), -2);
  EXPECT_TRUE(in.good());
  EXPECT_TRUE(in.at_end());
}

TEST(DwarfCursor, PastTheEndThereIsNothing) {
  DwarfCursor in("ab");
  EXPECT_EQ(in.take<uint32_t>(), 0u);
  EXPECT_FALSE(in.good());
  EXPECT_EQ(in.take<uint8_t>(), 0);  // nor before it, from then on
  EXPECT_EQ(in.text(), "");
  EXPECT_EQ(in.rest(), "");
}

TEST(DwarfCursor, AnEndlessNumberEnds) {
  const std::string bytes(1000, '\xff');
  DwarfCursor in(bytes);
  in.unsigned_number();
  EXPECT_FALSE(in.good());
}

TEST(DwarfCursor, DoesNotGoBack) {
  DwarfCursor in("abcd");
  in.take<uint16_t>();
  in.go_to(1);
  EXPECT_FALSE(in.good());
}

}  // namespace
}  // namespace headway
