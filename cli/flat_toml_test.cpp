#include "cli/flat_toml.h"

#include <gtest/gtest.h>

#include "headway/core/error.h"

namespace headway::cli {
namespace {

std::string value_of(const std::string& value) {
  return parse_flat_toml("key = " + value, "run.toml").at(0).value;
}

std::string problem_of(const std::string& text) {
  try {
    parse_flat_toml(text, "run.toml");
  } catch (const Error& e) {
    return e.problem();
  }
  return "";
}

TEST(FlatToml, ReadsKeysValuesAndComments) {
  const auto settings = parse_flat_toml(
      "# training\n\ndata = \"photos\"  # here\r\n'learning-rate'=1e-3\n\taugment =\ttrue", "x");
  ASSERT_EQ(settings.size(), 3u);
  EXPECT_EQ(settings[0].key, "data");
  EXPECT_EQ(settings[0].value, "photos");
  EXPECT_EQ(settings[0].line, 3);
  EXPECT_EQ(settings[1].key, "learning-rate");
  EXPECT_EQ(settings[1].value, "0.001");
  EXPECT_EQ(settings[2].value, "true");
  EXPECT_TRUE(parse_flat_toml("", "x").empty());
}

TEST(FlatToml, ReadsNumbersAsTomlDoes) {
  EXPECT_EQ(value_of("0xff"), "255");
  EXPECT_EQ(value_of("0o17"), "15");
  EXPECT_EQ(value_of("0b101"), "5");
  EXPECT_EQ(value_of("+1_000"), "1000");
  EXPECT_EQ(value_of("-7"), "-7");
  EXPECT_EQ(value_of("6.5e-2"), "0.065");
  EXPECT_EQ(value_of("0.5"), "0.5");
  EXPECT_EQ(value_of("-inf"), "-inf");
}

TEST(FlatToml, ReadsTextsAsTomlDoes) {
  EXPECT_EQ(value_of(R"("a \"b\" \\ \t # \u00e9 \U0001F600")"),
            "a \"b\" \\ \t # \xc3\xa9 \xf0\x9f\x98\x80");
  EXPECT_EQ(value_of(R"('C:\no\escape "here"')"), R"(C:\no\escape "here")");
  EXPECT_EQ(value_of("\"\""), "");
}

TEST(FlatToml, WhatIsNoSettingIsNamedByItsLine) {
  for (const char* bad : {"a",
                          "a =",
                          "= 1",
                          "a = = 1",
                          "a = 1 2",
                          "a.b = 1",
                          "[a]",
                          "[[[a",
                          "a = [1]",
                          "a = {b = 1}",
                          "a = \"x",
                          "a = 'x",
                          "a = \"\"\"x\"\"\"",
                          "a = \"\\x41\"",
                          "a = \"\\ud800\"",
                          "a = \"\\u00\"",
                          "a = 010",
                          "a = 1__0",
                          "a = _1",
                          "a = 99999999999999999999x",
                          "a = +-1",
                          "a = 0x",
                          "a = 1979-05-27",
                          "a = .5",
                          "a = yes",
                          "a = \"\x01\"",
                          "\xce\x9e = 1"}) {
    EXPECT_EQ(problem_of(std::string("b = 1\n") + bad).find("run.toml:2: "), 0u) << bad;
  }
  EXPECT_EQ(problem_of("a = 1\na = 2"), "run.toml:2: a is set twice");
}

TEST(FlatToml, NestingHasNoDepth) {
  for (const char* piece : {"[", "a.", "{a=", "[["}) {
    std::string deep;
    for (int i = 0; i < 200'000; ++i) deep += piece;
    EXPECT_NE(problem_of(deep), "") << piece;
    EXPECT_NE(problem_of("a = " + deep), "") << piece;
  }
}

}  // namespace
}  // namespace headway::cli
