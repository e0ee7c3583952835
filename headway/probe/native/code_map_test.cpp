#include "headway/probe/native/code_map.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace headway {
namespace {

const char kMaps[] =
    "00400000-00401000 r--p 00000000 08:01 11   /usr/bin/python3.11\n"
    "00401000-00800000 r-xp 00001000 08:01 11   /usr/bin/python3.11\n"
    "7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n"
    "7f0000002000-7f0000003000 r-xp 00002000 08:01 12                         /opt/my "
    "libs/libm.so\n";

TEST(CodeMap, KnowsWhichFileCodeComesFrom) {
  const CodeMap map{kMaps};
  ASSERT_TRUE(map.at(0x401000));
  EXPECT_EQ(map.at(0x401000)->path, "/usr/bin/python3.11");
  EXPECT_EQ(map.at(0x401000)->offset, 0x1000u);
  EXPECT_EQ(map.at(0x7f0000002fff)->path, "/opt/my libs/libm.so");
}

TEST(CodeMap, DataIsNoCode) {
  const CodeMap map{kMaps};
  EXPECT_FALSE(map.at(0x400010));
  EXPECT_FALSE(map.at(0x800000));
  EXPECT_FALSE(map.at(0));
}

TEST(CodeMap, CodeThatWasMadeHasNoFile) {
  const CodeMap map{kMaps};
  ASSERT_TRUE(map.at(0x7f0000000800));
  EXPECT_EQ(map.at(0x7f0000000800)->inode, 0u);
}

TEST(CodeMap, NonsenseIsSkipped) {
  const CodeMap map{"zz-yy r-xp\n\n123\n-\n00401000-00800000 r-xp\n"};
  EXPECT_EQ(map.size(), 0u);
}

TEST(CodeMap, FindsThisVeryFunction) {
  const CodeMap map = CodeMap::of(::getpid());
  EXPECT_TRUE(map.at(reinterpret_cast<uint64_t>(&CodeMap::of)));
}

}  // namespace
}  // namespace headway
