#include "headway/core/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

namespace headway {
namespace {

std::string nested(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

template <typename F>
std::string problem_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.problem();
  }
  return "";
}

TEST(Json, IsParsedUpToADepth) {
  EXPECT_EQ(parse_json(nested(32)).dump(), nested(32));
  for (const size_t depth : {33, 200'000}) {
    try {
      parse_json(nested(depth));
      ADD_FAILURE() << depth;
    } catch (const JsonError& e) {
      EXPECT_TRUE(e.over_limit());
      EXPECT_EQ(e.byte(), 32u);
    }
  }
}

TEST(Json, BracketsInTextsAreNoDepth) {
  const std::string text = R"({"a\\\"[[[[":"]]]]\\","b":["[{[{","\""]})";
  EXPECT_EQ(parse_json(text, {.max_depth = 2}).at("b").at(0), "[{[{");
}

TEST(Json, IsParsedUpToASizeAndANumberOfValues) {
  EXPECT_EQ(problem_of([] { parse_json("[1,2,3]", {.max_bytes = 6}); }),
            "more than 6 bytes of JSON");
  EXPECT_NO_THROW(parse_json("[1,2,3]", {.max_values = 4}));
  EXPECT_EQ(problem_of([] { parse_json("[1,2,3]", {.max_values = 3}); }),
            "more than 3 values of JSON");
}

TEST(Json, WhatIsNoJsonIsToldByItsByte) {
  EXPECT_EQ(problem_of([] { parse_json("{\"a\":]"); }),
            "this is not valid JSON: unexpected text at byte 5");
  EXPECT_EQ(problem_of([] { parse_json(""); }),
            "this is not valid JSON: unexpected text at byte 0");
  EXPECT_EQ(problem_of([] { parse_json("1e999"); }),
            "a number that is too large for 64-bit floating point: '1e999'");
}

TEST(Json, ValuesOfTheWrongKindAreToldByTheirName) {
  const nlohmann::json json = parse_json(R"({"loss":[],"step":"7","many":1e30,"on":1,"n":-1})");
  const JsonView view(json);
  EXPECT_EQ(problem_of([&] { view["loss"].as<double>(); }),
            "in the JSON, 'loss' is a list, but must be a number");
  EXPECT_EQ(problem_of([&] { view["loss"].at(0); }),
            "in the JSON, 'loss' is a list of 0 values, but must have at least 1");
  EXPECT_EQ(problem_of([&] { view["step"].as<int64_t>(); }),
            "in the JSON, 'step' is a text, but must be a whole number in the allowed range");
  EXPECT_NE(problem_of([&] { view["many"].as<int64_t>(); }), "");
  EXPECT_NE(problem_of([&] { view["n"].as<uint32_t>(); }), "");
  EXPECT_NE(problem_of([&] { view["on"].as<bool>(); }), "");
  EXPECT_EQ(problem_of([&] { view["none"]; }), "in the JSON, 'none' is missing");
  EXPECT_EQ(problem_of([&] { view["step"]["deeper"]; }),
            "in the JSON, 'step' is a text, but must be an object");
}

TEST(Json, ListsPairsAndMapsAreReadWhole) {
  const nlohmann::json json = parse_json(R"({"logs":[["loss",0.5],["odd",null]],"m":{"a":"b"}})");
  const auto logs = JsonView(json)["logs"].as<std::vector<std::pair<std::string, double>>>();
  ASSERT_EQ(logs.size(), 2u);
  EXPECT_EQ(logs[0], std::pair(std::string("loss"), 0.5));
  EXPECT_TRUE(std::isnan(logs[1].second));
  EXPECT_EQ((JsonView(json)["m"].as<std::map<std::string, std::string>>().at("a")), "b");
  EXPECT_EQ(JsonView(json).get("absent", 7), 7);
}

TEST(Json, LinesAreReadUpToALength) {
  std::istringstream in("one\n\nfour");
  std::string line;
  std::vector<std::string> lines;
  while (read_line(in, line, 4)) lines.push_back(line);
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "", "four"}));
  EXPECT_TRUE(in.eof());
  std::istringstream longer("12345");
  EXPECT_THROW(read_line(longer, line, 4), JsonError);
}

}  // namespace
}  // namespace headway
