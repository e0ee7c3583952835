#include "headway/probe/source/source_differences.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

std::string found(const std::string& line) {
  const PythonSource source({line});
  std::string out;
  for (const SourceDifference& each : differences_in(source)) out += each.left + "-" + each.right;
  return out;
}

TEST(SourceDifferences, TwoVariablesAreFound) {
  EXPECT_EQ(found("loss = ((pred - y) ** 2).mean()"), "pred-y");
  EXPECT_EQ(found("return torch.mean(torch.abs(rent-guess))"), "rent-guess");
  EXPECT_EQ(found("error = a - b"), "a-b");
}

TEST(SourceDifferences, WhatWasReshapedIsLeftOut) {
  EXPECT_EQ(found("loss = (pred.squeeze(1) - y) ** 2"), "");
  EXPECT_EQ(found("loss = (pred - y[:, None]) ** 2"), "");
  EXPECT_EQ(found("loss = (pred - y.view(-1, 1)) ** 2"), "");
  EXPECT_EQ(found("a -= b"), "");
  EXPECT_EQ(found("def f(a) -> int: pass"), "");
  EXPECT_EQ(found("x = 3 - n"), "");
}

TEST(SourceDifferences, AreBounded) {
  const PythonSource source(std::vector<std::string>(500, "error = a - b"));
  EXPECT_LE(differences_in(source).size(), 40u);
}

}  // namespace
}  // namespace headway
