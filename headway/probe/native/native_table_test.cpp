#include "headway/probe/native/native_table.h"

#include <gtest/gtest.h>

#include <fstream>

#include "headway/core/error.h"

namespace headway {
namespace {

TEST(NativeTable, TheFirstLineThatFitsCounts) {
  const NativeTable table("decodes libjpeg *\ncomputes * gemm\ncomputes libjpeg gemm\n", "t");
  EXPECT_EQ(table.kind_of("libjpeg.so.62", "gemm"), NativeKind::kDecodes);
  EXPECT_EQ(table.kind_of("libx.so", "my_gemm_kernel"), NativeKind::kComputes);
  EXPECT_EQ(table.kind_of("libx.so", "other"), NativeKind::kOther);
}

TEST(NativeTable, WholeNamesAndBeginnings) {
  const NativeTable table("decodes * =inflate\nimage * ^png_\n", "t");
  EXPECT_EQ(table.kind_of("libz.so", "inflate"), NativeKind::kDecodes);
  EXPECT_EQ(table.kind_of("libz.so", "inflate_x"), NativeKind::kOther);
  EXPECT_EQ(table.kind_of("a", "png_read"), NativeKind::kImage);
  EXPECT_EQ(table.kind_of("a", "read_png_"), NativeKind::kOther);
}

TEST(NativeTable, AMistakeIsNamedWithItsLine) {
  try {
    NativeTable("# a remark\ndecodes libjpeg\n", "mine.table");
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("mine.table:2"), std::string::npos) << e.what();
  }
  EXPECT_THROW(NativeTable("cooks libjpeg *\n", "t"), Error);
}

TEST(NativeTable, LinesOfTheUserComeBeforeTheBuiltInOnes) {
  const std::string file = testing::TempDir() + "mine.table";
  std::ofstream(file) << "input libmine *\ninput * =inflate\n";
  const NativeTable table = NativeTable::with_lines_of(file);
  EXPECT_EQ(table.kind_of("libmine.so", "a"), NativeKind::kInput);
  EXPECT_EQ(table.kind_of("libz.so", "inflate"), NativeKind::kInput);
  EXPECT_EQ(table.kind_of("libz.so", "inflate_fast"), NativeKind::kDecodes);
  EXPECT_THROW(NativeTable::with_lines_of(file + ".none"), Error);
}

TEST(NativeTable, KnowsWhoAsksTensorFlowForData) {
  EXPECT_EQ(NativeTable::built_in().kind_of(
                "libtensorflow_cc.so.2",
                "_ZN10tensorflow4data17IteratorGetNextOp9DoComputeEPNS_15OpKernelContextE"),
            NativeKind::kTakesElement);
}

}  // namespace
}  // namespace headway
