#include "headway/trace/outside_fields.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <sstream>

#include "headway/trace/trace_file.h"

namespace headway {
namespace {

Outside something_seen() {
  Outside seen;
  seen.seen = true;
  seen.command = "python train.py";
  seen.stacks = {{.process = Role::kMain,
                  .main_thread = true,
                  .activity = Activity::kFetch,
                  .wait = Wait::kLock,
                  .frames = {{"train.py", "main", 12, true, "for x in loader:"}},
                  .samples = 40}};
  seen.output.shuffle_fill = 3;
  return seen;
}

Trace written_and_read(const Outside& seen) {
  const std::string path =
      ::testing::TempDir() + "/headway_outside_" + std::to_string(::getpid()) + ".trace";
  Trace trace;
  trace.outside = seen;
  write_trace(path, trace);
  const Trace back = read_trace(path);
  std::filesystem::remove(path);
  return back;
}

TEST(OutsideFields, ComeBackAsTheyWereWritten) {
  Outside seen = something_seen();
  seen.progress.loss = NAN;
  const Outside back = written_and_read(seen).outside;
  EXPECT_EQ(back.command, "python train.py");
  ASSERT_EQ(back.stacks.size(), 1u);
  EXPECT_EQ(back.stacks[0].samples, 40);
  EXPECT_EQ(back.stacks[0].user_frame()->text, "for x in loader:");
  EXPECT_EQ(back.output.shuffle_fill, 3);
  EXPECT_EQ(back.exit_status, -1);
  EXPECT_TRUE(std::isnan(back.progress.loss));
}

TEST(OutsideFields, TheLastLineCounts) {
  std::istringstream text(
      "{\"kind\":\"headway-trace\",\"version\":2}\n"
      "{\"kind\":\"outside\",\"seen\":true,\"pid\":7}\n{\"kind\":\"outside\",\"seen\":true}\n");
  EXPECT_EQ(parse_trace(text, "a trace").outside.pid, 0);
}

TEST(OutsideFields, BytesThatAreNoTextDoNotStopTheWriting) {
  Outside seen = something_seen();
  seen.output.exception = "\xff\xfe";
  EXPECT_EQ(written_and_read(seen).outside.output.exception, "\xef\xbf\xbd\xef\xbf\xbd");
}

}  // namespace
}  // namespace headway
