#include "headway/probe/source/source_flow.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

using Lines = std::vector<std::string>;
using Numbers = std::vector<int64_t>;

TEST(SourceFlow, FollowsWhatALineAssignsToWhoTakesIt) {
  const Lines lines = {"while True:", "    x = load()", "    y = scale(x)", "    loss = step(y)"};
  EXPECT_EQ(lines_fed(lines, 2), (Numbers{3, 4}));
  EXPECT_EQ(lines_fed(lines, 4), Numbers());
}

TEST(SourceFlow, ALoopComesRoundAgain) {
  const Lines lines = {"def train():", "    while True:", "        loss = model(x, y)",
                       "        x, y = make(rng)"};
  EXPECT_EQ(lines_fed(lines, 4), (Numbers{3}));
}

TEST(SourceFlow, StateThatAStatementKeepsIsNotHandedToIt) {
  const Lines lines = {"weights = clip(weights)", "weights, loss = step(weights, x)", "x = load()"};
  EXPECT_EQ(lines_fed(lines, 1), Numbers());
  EXPECT_EQ(lines_fed(lines, 3), (Numbers{2}));
}

TEST(SourceFlow, StaysInItsFunction) {
  const Lines lines = {"def a():", "    x = load()", "    return x", "def b():", "    step(x)"};
  EXPECT_EQ(lines_fed(lines, 2), (Numbers{3}));
}

TEST(SourceFlow, KnowsLoopsAppendsIndicesAndAttributes) {
  const Lines lines = {"for image in folder:", "    rows.append(decode(image))",
                       "    table[0, 1] = rows", "self.batch = stack(table)",
                       "step(self.batch.float())"};
  EXPECT_EQ(lines_fed(lines, 1), (Numbers{2, 3, 4, 5}));
}

TEST(SourceFlow, TakesAStatementOfSeveralLinesAsOne) {
  const Lines lines = {"x = make(", "    rng,", "    size=4)", "loss = step(", "    model, x)"};
  EXPECT_EQ(lines_fed(lines, 2), (Numbers{4, 5}));
}

TEST(SourceFlow, ReadsNoNamesInTextAndComments) {
  const Lines lines = {"x = load()", "print('x = ', 3)  # x", "if loss == x: stop()"};
  EXPECT_EQ(lines_fed(lines, 1), (Numbers{3}));
}

TEST(SourceFlow, GivesNothingForLinesThatAreNotThere) {
  EXPECT_EQ(lines_fed({}, 1), Numbers());
  EXPECT_EQ(lines_fed({"x = 1"}, 0), Numbers());
  EXPECT_EQ(lines_fed({"x = 1", ""}, 2), Numbers());
}

}  // namespace
}  // namespace headway
