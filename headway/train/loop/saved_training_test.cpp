#include "headway/train/loop/saved_training.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

#include "headway/core/error.h"

namespace headway {
namespace {

SavedTraining something_saved() {
  SavedTraining saved;
  saved.description = "dense(1)";
  saved.epoch = 1, saved.step = 7, saved.step_in_epoch = 3;
  saved.loss = {NAN, 3};
  saved.metrics = {{2.5, 4}};
  saved.callbacks = {{"early stopping", "0x1p+0 1 1 0"}};
  saved.history.emplace_back().set("loss", 0.25);
  saved.threads = {2, 1, 0};
  saved.pipeline = "{\"format\":\"x\"}";
  return saved;
}

// The text with one of its values replaced.
std::string with(const std::string& key, const std::string& value) {
  std::string text = text_of(something_saved());
  const size_t begin = text.find('"' + key + "\":") + key.size() + 3;
  size_t end = begin;
  for (int depth = 0; depth > 0 || (text[end] != ',' && text[end] != '}'); ++end) {
    depth += text[end] == '[' || text[end] == '{';
    depth -= text[end] == ']' || text[end] == '}';
  }
  return text.replace(begin, end - begin, value);
}

std::string problem_of(const std::string& text) {
  try {
    parse_saved_training(text);
  } catch (const Error& e) {
    return e.problem();
  }
  return "";
}

TEST(SavedTraining, ComesBackAsItWasWritten) {
  const SavedTraining back = parse_saved_training(text_of(something_saved()));
  EXPECT_EQ(back.description, "dense(1)");
  EXPECT_EQ(back.step, 7);
  EXPECT_TRUE(std::isnan(back.loss.first));
  EXPECT_EQ(back.metrics, something_saved().metrics);
  EXPECT_EQ(back.callbacks, something_saved().callbacks);
  EXPECT_EQ(back.history.at(0)["loss"], 0.25);
  EXPECT_EQ(back.threads, something_saved().threads);
  EXPECT_EQ(back.pipeline, something_saved().pipeline);
  EXPECT_FALSE(parse_saved_training(with("pipeline", "null")).pipeline);
}

TEST(SavedTraining, WhatIsOfTheWrongKindIsToldInPlainWords) {
  EXPECT_EQ(problem_of(with("loss", "[]")),
            "in the JSON, 'loss' is a list, but must be a list of two");
  EXPECT_EQ(problem_of(with("history", "[[[]]]")),
            "in the JSON, 'history' is a list, but must be a list of two");
  EXPECT_EQ(problem_of(with("metrics", "{}")),
            "in the JSON, 'metrics' is an object, but must be a list");
  EXPECT_EQ(problem_of(with("pipeline", "7")),
            "in the JSON, 'pipeline' is a number, but must be a text");
  EXPECT_EQ(problem_of(with("callbacks", "{\"a\":1}")),
            "in the JSON, 'a' is a number, but must be a text");
  EXPECT_EQ(problem_of("[]"), "in the JSON, 'the state' is a list, but must be an object");
  EXPECT_EQ(problem_of("{"), "this is not valid JSON: unexpected text at byte 1");
}

TEST(SavedTraining, CountsThatCannotBeAreRefused) {
  EXPECT_EQ(problem_of(with("step", "-1")),
            "the checkpoint's field 'step' is -1, but must be between 0 and 2^53");
  EXPECT_NE(problem_of(with("epoch", "9223372036854775807")), "");
  EXPECT_NE(problem_of(with("iterations", "1e300")), "");
  EXPECT_EQ(problem_of(with("threads", "[1000000,1,0]")),
            "the checkpoint's field 'threads' has the number 1000000, but each must be between 0 "
            "and 4096");
  EXPECT_EQ(problem_of(with("threads", "[]")),
            "the checkpoint's field 'threads' must be a list of three numbers");
}

TEST(SavedTraining, NestingAndManyLogsAreRefused) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_NE(problem_of(with("history", deep)).find("levels"), std::string::npos);
  std::string logs = "[[\"0\",0]";
  for (int i = 1; i <= 1000; ++i) logs += ",[\"" + std::to_string(i) + "\",0]";
  EXPECT_EQ(problem_of(with("history", "[" + logs + "]]")),
            "the checkpoint lists 1001 measured values for one epoch, but at most 1000 are "
            "possible");
}

TEST(SavedTraining, OfAnotherVersionIsRefused) {
  EXPECT_EQ(problem_of(with("version", "2")),
            "the checkpoint has version 2, but this headway reads version 1");
}

}  // namespace
}  // namespace headway
