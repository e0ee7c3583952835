#include "headway/probe/source/python_source.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(PythonSource, AStatementMaySpanLines) {
  const PythonSource source(
      {"x = f(1,  # one", "      2)", "y = 3 \\", "    + 4", "z = \"\"\"a (", "b\"\"\"", "w = 1"});
  ASSERT_EQ(source.statements().size(), 4u);
  EXPECT_EQ(source.statements()[0].text, "x = f(1,   2)");
  EXPECT_EQ(source.statements()[0].last, 2);
  EXPECT_EQ(source.statements()[1].last, 4);
  EXPECT_EQ(source.statements()[3].first, 7);
}

TEST(PythonSource, ACallHasItsArguments) {
  const PythonSource source({"out = nn.Linear(64, out_features=g(3, 4), bias=\"a, b\")"});
  ASSERT_EQ(source.calls().size(), 2u);
  const SourceCall& call = source.calls()[0];
  EXPECT_EQ(call.name, "nn.Linear");
  EXPECT_EQ(call.owner(), "nn");
  EXPECT_EQ(call.at(0), "64");
  EXPECT_EQ(call.given("out_features"), "g(3, 4)");
  EXPECT_EQ(call.given("bias"), "\"a, b\"");
  EXPECT_EQ(call.given("other"), "");
  EXPECT_EQ(source.calls()[1].inside, 0u);
}

TEST(PythonSource, ACallKnowsItsOwnLine) {
  const PythonSource source({"net = Sequential(", "", "    Dense(3),", "    Dense(4))"});
  ASSERT_EQ(source.calls().size(), 3u);
  EXPECT_EQ(source.calls()[2].line, 4);
}

TEST(PythonSource, StatementsStandInBlocks) {
  const PythonSource source(
      {"class A:", "    def f(self):", "        for x in y:", "            g(x)", "h()"});
  EXPECT_EQ(source.around(3, "def "), 1u);
  EXPECT_EQ(source.around(3, "class "), 0u);
  EXPECT_TRUE(source.in_loop(3));
  EXPECT_FALSE(source.in_loop(4));
  EXPECT_EQ(source.statements()[4].inside, kNowhere);
}

TEST(PythonSource, AnAssignmentHasANameAndAValue) {
  const PythonSource source(
      {"self.net: Module = f(a=1)", "x == 1", "a, b = c", "return g(x)", "n += 1"});
  EXPECT_EQ(source.statements()[0].assigns, "self.net");
  EXPECT_EQ(source.statements()[0].value, "f(a=1)");
  EXPECT_EQ(source.statements()[1].assigns, "");
  EXPECT_EQ(source.statements()[2].assigns, "");
  EXPECT_EQ(source.statements()[3].value, "g(x)");
  EXPECT_EQ(source.statements()[4].assigns, "");
}

TEST(PythonSource, ABracketThatNeverClosesEndsWithTheNextFunction) {
  const PythonSource source({"x = f(1,", "y = 2", "def g():", "    return 3"});
  ASSERT_EQ(source.statements().size(), 3u);
  EXPECT_EQ(source.statements()[1].text, "def g():");
}

TEST(PythonSource, AnythingCanBeRead) {
  const PythonSource odd({")))", "'", "\"\"\"", "(((", "", "\\", "=", "def ("});
  EXPECT_LE(odd.statements().size(), 8u);
  const PythonSource deep({std::string(10000, '('), std::string(10000, ')')});
  EXPECT_LE(deep.calls().size(), 64u);
}

}  // namespace
}  // namespace headway
