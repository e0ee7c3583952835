#include "headway/core/print.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(Visible, LeavesOrdinaryTextAlone) {
  for (const char* text : {"", "photos/cat.jpg", "C:\\new", "größe · 猫 · 🐈", "100% {} \"x\""}) {
    EXPECT_EQ(visible(text), text);
    EXPECT_EQ(visible_lines(text), text);
  }
}

TEST(Visible, ShowsWhatWouldSteerATerminal) {
  EXPECT_EQ(visible("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(visible("a\r\n\tb\x7f\x07"), "a\\r\\n\\tb\\x7f\\x07");
  EXPECT_EQ(visible(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(visible("\xc2\x9b"
                    "31m"),
            "\\u009b31m");  // CSI in one character
  EXPECT_EQ(visible("a\xe2\x80\xae"
                    "gpj.exe"),
            "a\\u202egpj.exe");  // right to left
  EXPECT_EQ(visible("\xe2\x81\xa6\xe2\x81\xa9"), "\\u2066\\u2069");
}

TEST(Visible, ShowsBytesThatAreNoUtf8) {
  EXPECT_EQ(visible("a\xff"), "a\\xff");
  EXPECT_EQ(visible("\x9b"
                    "31m"),
            "\\x9b31m");
  EXPECT_EQ(visible("\xe2\x82"), "\\xe2\\x82");           // cut short
  EXPECT_EQ(visible("\xc0\x9b"), "\\xc0\\x9b");           // ESC written too long
  EXPECT_EQ(visible("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a pair
}

TEST(Visible, KeepsTheLinesOfTextsThatHaveSome) {
  EXPECT_EQ(visible_lines("a\n  b\x1b\n"), "a\n  b\\x1b\n");
}

TEST(Visible, NoLineOfAMessagePosesAsAnother) {
  EXPECT_EQ(visible_message("x\nheadway: all is well"), "x\n  headway: all is well");
  EXPECT_EQ(visible_message("other settings\n  there 1\n  wanted 2\n"),
            "other settings\n  there 1\n  wanted 2\n");
}

TEST(Print, ShowsTheArgumentsAndObeysTheFormat) {
  ::testing::internal::CaptureStdout();
  const std::string name = "a\x1b[2J\n";
  print("\033[1m{}\033[0m {:>3} {} {:.1f}\n", name, 7, "b\x9b", 0.5);
  print_lines(stdout, "one\ntwo\x1b\n");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(),
            "\033[1ma\\x1b[2J\\n\033[0m   7 b\\x9b 0.5\none\ntwo\\x1b\n");
}

}  // namespace
}  // namespace headway
