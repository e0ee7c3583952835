#include "headway/probe/python/line_table.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

using namespace std::string_literals;

TEST(LineTable, LnotabAddsLinesAsTheAddressPasses) {
  const std::string table("\x02\x01\x04\x02", 4);  // from byte 2: line 11, from byte 6: line 13
  EXPECT_EQ(line_of(LineTable::kLnotab, table, 10, 0), 10);
  EXPECT_EQ(line_of(LineTable::kLnotab, table, 10, 2), 11);
  EXPECT_EQ(line_of(LineTable::kLnotab, table, 10, 40), 13);
}

TEST(LineTable, DeltasHoldRangesAndPlacesWithoutALine) {
  const std::string table("\x04\x01\x02\x80\x06\xff", 6);  // 0-4: 11, 4-6: none, 6-12: 10
  EXPECT_EQ(line_of(LineTable::kDeltas, table, 10, 2), 11);
  EXPECT_EQ(line_of(LineTable::kDeltas, table, 10, 4), 10);
  EXPECT_EQ(line_of(LineTable::kDeltas, table, 10, 8), 10);
}

TEST(LineTable, LocationsOfAllFormsAreRead) {
  // one unit, one line on (form 11); two units, same line (form 0); one unit, three lines back (13)
  const std::string table("\xd8\x00\x00\x81\x00\xe8\x07"s);
  EXPECT_EQ(line_of(LineTable::kLocations, table, 10, 0), 11);
  EXPECT_EQ(line_of(LineTable::kLocations, table, 10, 4), 11);
  EXPECT_EQ(line_of(LineTable::kLocations, table, 10, 6), 8);
}

TEST(LineTable, RubbishGivesTheFirstLine) {
  EXPECT_EQ(line_of(LineTable::kLocations, std::string("\x01\x02\x03"), 10, 4), 10);
  EXPECT_EQ(line_of(LineTable::kLocations, "", 10, 4), 10);
  EXPECT_EQ(line_of(LineTable::kLocations, std::string("\xf0"), 10, -2), 10);
}

}  // namespace
}  // namespace headway
