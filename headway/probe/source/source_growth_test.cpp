#include "headway/probe/source/source_growth.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(SourceGrowth, AListOfAnObjectThatNothingEmptiesIsFound) {
  std::vector<std::string> lines{
      "class Net(LightningModule):", "    def __init__(self):", "        self.outputs = []",
      "    def training_step(self, batch, _):", "        self.outputs.append(out)"};
  EXPECT_EQ(line_that_keeps(lines), 5);
  lines.insert(lines.end(), {"    def on_train_epoch_end(self):", "        self.outputs.clear()"});
  EXPECT_EQ(line_that_keeps(lines), 0);
}

TEST(SourceGrowth, AListOfTheTrainingLoopIsFound) {
  const std::vector<std::string> start{"def main():", "    history = []", "    for x in data:"};
  auto lines = start;
  lines.insert(lines.end(), {"        loss.backward()", "        history.append(loss)"});
  EXPECT_EQ(line_that_keeps(lines), 5);
  lines.back() = "        history.append(loss.item())";
  EXPECT_EQ(line_that_keeps(lines), 0);
}

TEST(SourceGrowth, AListInADictionaryIsFoundAndOnesOfNumbersArePassedOver) {
  std::vector<std::string> lines{"def main():",
                                 "    record = {'step': [], 'loss': [], 'rest': []}",
                                 "    for step, x in enumerate(data, 1):",
                                 "        loss.backward()",
                                 "        record['step'].append(step)",
                                 "        record['loss'].append(float(loss))",
                                 "        record['rest'].append(rest)"};
  EXPECT_EQ(line_that_keeps(lines), 7);
  lines.insert(lines.begin() + 2, "    record['rest'] = []");
  EXPECT_EQ(line_that_keeps(lines), 8);
  lines.emplace_back("        record['rest'] = []");
  EXPECT_EQ(line_that_keeps(lines), 0);
}

TEST(SourceGrowth, AListThatDoesNotLastIsNone) {
  EXPECT_EQ(line_that_keeps(
                {"class Rows(Dataset):", "    def __init__(self, n):", "        self.rows = []",
                 "        for i in range(n):", "            self.rows.append(row(i))"}),
            0);
  EXPECT_EQ(line_that_keeps({"def draw(n):", "    rows = []", "    for i in range(n):",
                             "        rows.append(table[i])", "    return rows"}),
            0);
  EXPECT_EQ(line_that_keeps({"for x in data:", "    parts = []",
                             "    for y in x:", "        parts.append(y)", "    optimizer.step()"}),
            0);
  EXPECT_EQ(line_that_keeps({"memory = deque(maxlen=100)", "for x in data:", "    memory.append(x)",
                             "    optimizer.step()"}),
            0);
}

}  // namespace
}  // namespace headway
