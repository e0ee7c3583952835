#include "headway/view/live.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <sstream>

#include "headway/doctor/diagnose.h"
#include "headway/doctor/simulate.h"
#include "headway/io/bytes/temp_folder.h"
#include "headway/trace/trace_file.h"
#include "headway/view/canvas.h"
#include "headway/view/frame_parts.h"
#include "headway/view/live_screen.h"

namespace headway {
namespace {

using testing::simulate;

std::string frame_of(const Trace& trace, int width, int height, bool color = false) {
  const std::vector<Finding> findings = diagnose(trace);
  return live_frame(trace, verdict(trace, findings), findings, width, height, color);
}

Trace starved() { return simulate({.own_ms = 20, .op_ms = 100, .ended = false}); }

bool says(const std::string& frame, const std::string& words) {
  return frame.find(words) != std::string::npos;
}

int columns(const std::string& row) {
  return static_cast<int>(
      std::count_if(row.begin(), row.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

TEST(LiveFrame, ShowsWhatSetsThePaceAndWhatToDo) {
  const std::string frame = frame_of(starved(), 100, 30);
  for (const char* words :
       {"slow: ", "epoch 1/10", "all in", "sets pace", "decode_image+batch", "training",
        "waiting for data 60%", "WWWW", "loss", "step time", "fix"}) {
    EXPECT_TRUE(says(frame, words)) << words << "\n" << frame;
  }
}

TEST(LiveFrame, OfAStuckRunSaysWhereItHangs) {
  const std::string frame = frame_of(simulate({.stuck_from_s = 10, .ended = false}), 80, 24);
  EXPECT_TRUE(says(frame, "stuck (")) << frame;
  EXPECT_TRUE(says(frame, "hangs here")) << frame;
}

TEST(PartOf, WhatIsNoNumberIsNothingAndNothingIsMoreThanAll) {
  EXPECT_EQ(part_of(0.5, 8), 4);
  EXPECT_EQ(part_of(NAN, 7), 0);
  EXPECT_EQ(part_of(-INFINITY, 7), 0);
  EXPECT_EQ(part_of(INFINITY, 7), 7);
}

TEST(LiveFrame, FitsEveryScreen) {
  for (const auto& file : std::filesystem::directory_iterator(SCENARIOS)) {
    if (file.path().extension() != ".trace") continue;
    const Trace trace = read_trace(file.path());
    for (const auto& [width, height] : {std::pair(1, 1), {20, 5}, {40, 12}, {80, 24}, {200, 60}}) {
      std::istringstream rows(frame_of(trace, width, height));
      int count = 0;
      for (std::string row; std::getline(rows, row); ++count) {
        EXPECT_LE(columns(row), width) << file.path() << "\n" << row;
      }
      EXPECT_LE(count, height) << file.path();
    }
  }
}

TEST(LiveFrame, KeepsFindingsOnALowScreen) {
  EXPECT_TRUE(says(frame_of(starved(), 80, 12), "fix"));
}

TEST(LiveFrame, OfNothingSaysSo) { EXPECT_TRUE(says(frame_of(Trace{}, 80, 24), "no step yet")); }

TEST(LiveFrame, NamesCannotMoveTheCursor) {
  Trace trace = starved();
  trace.stages[0].name = "evil\033[2J\x07\r\n\xe7\x8c\xab\xff";
  trace.run.program = "\033]0;title\007";
  EXPECT_EQ(frame_of(trace, 80, 24).find_first_of("\033\x07\r"), std::string::npos);
}

TEST(LiveFrame, ColoursOnlyColour) {
  std::string colored = frame_of(simulate({}), 80, 24, true);
  EXPECT_TRUE(says(colored, "\033[1;32m"));
  size_t at;
  while ((at = colored.find('\033')) != std::string::npos) {
    colored.erase(at, colored.find('m', at) + 1 - at);
  }
  EXPECT_TRUE(says(colored, "healthy: compute-bound"));
}

TEST(LiveLine, HoldsTheRunOnALine) {
  const Trace trace = starved();
  EXPECT_EQ(live_line(trace, {.state = State::kSlow, .sentence = "slow: x"}),
            "30 s  epoch 1/10  600/10000  50 ms/step  loss 0.53  slow: x");
}

TEST(Canvas, CutsAndWraps) {
  Canvas canvas(10, 3);
  EXPECT_EQ(canvas.put_wrapped(2, 0, 1, "one two three four five"), 2);
  canvas.put_within(0, 2, 6, "größer als");
  EXPECT_EQ(canvas.rows(false), (std::vector<std::string>{"  one two", "  three…", "größe…"}));
}

TEST(Canvas, HasAnAsciiOfEveryGlyphItDraws) {
  EXPECT_EQ(ascii_of("╔═╗──▶█░…é"), "===-->#..?");
  EXPECT_EQ(ascii_of(frame_of(starved(), 120, 40)).find('?'), std::string::npos);
}

TEST(LiveScreen, WritesALineWhereThereIsNoTerminal) {
  const TempFolder folder;
  std::FILE* file = std::fopen(folder.path("log").c_str(), "w");
  {
    LiveScreen screen(file);
    EXPECT_FALSE(screen.is_terminal());
    const Trace trace = starved();
    for (int i = 0; i < 3; ++i)
      screen.show(trace, {.state = State::kSlow, .sentence = "slow: x"}, {});
    screen.show(trace, {.state = State::kStuck, .sentence = "stuck: y"}, {});
  }
  std::fclose(file);
  const std::string text = folder.read("log");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_EQ(text.find('\033'), std::string::npos);
}

}  // namespace
}  // namespace headway
