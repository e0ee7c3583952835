#include "headway/trace/outside_file.h"

#include <gtest/gtest.h>

#include <sstream>

#include "headway/trace/trace_file.h"

namespace headway {
namespace {

Outside something_seen() {
  Outside seen;
  seen.seen = true;
  seen.command = "python train.py";
  seen.stacks = {{.process = "main",
                  .thread = "main",
                  .activity = "fetch",
                  .wait = "lock",
                  .frames = {{"train.py", "main", 12, true, "for x in loader:"}},
                  .samples = 40}};
  seen.output.shuffle_fill = 3;
  return seen;
}

TEST(OutsideFile, ComesBackAsItWasWritten) {
  const Outside back = parse_outside(outside_line(something_seen()));
  EXPECT_EQ(back.command, "python train.py");
  ASSERT_EQ(back.stacks.size(), 1u);
  EXPECT_EQ(back.stacks[0].samples, 40);
  EXPECT_EQ(back.stacks[0].user_frame()->text, "for x in loader:");
  EXPECT_EQ(back.output.shuffle_fill, 3);
}

TEST(OutsideFile, IsOneLineOfATrace) {
  std::istringstream text("{\"kind\":\"headway-trace\",\"version\":1}\n" +
                          outside_line(something_seen()) + "\n");
  EXPECT_TRUE(parse_trace(text, "a trace").outside.seen);
}

TEST(OutsideFile, BytesThatAreNoTextDoNotStopTheWriting) {
  Outside seen = something_seen();
  seen.output.exception = "\xff\xfe";
  EXPECT_NE(outside_line(seen).find("outside"), std::string::npos);
}

}  // namespace
}  // namespace headway
