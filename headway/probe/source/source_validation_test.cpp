#include "headway/probe/source/source_validation.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

std::vector<int64_t> first_lines(const std::vector<std::string>& lines) {
  std::vector<int64_t> out;
  const PythonSource source(lines);
  for (const SourceRange& range : validating_functions(source)) out.push_back(range.first);
  return out;
}
using Lines = std::vector<int64_t>;

TEST(SourceValidation, AFunctionThatMeasuresAModelIsFoundWhateverItsName) {
  const std::vector<std::string> lines = {"def held_out_error(model, data):",
                                          "    model.eval()",
                                          "    with torch.no_grad():",
                                          "        for x, y in data:",
                                          "            wrong += (model(x) != y).sum().item()",
                                          "    model.train()",
                                          "    return wrong / len(data)",
                                          "print(held_out_error(net, data))",
                                          "loss.backward()"};
  EXPECT_EQ(first_lines(lines), Lines{1});
  EXPECT_EQ(validating_functions(PythonSource(lines))[0].last, 7);
  EXPECT_EQ(first_lines({"@torch.no_grad()", "def score(x):", "    return f(x).mean(), right / n",
                         "loss.backward()"}),
            Lines{2});
}

TEST(SourceValidation, WhatMakesDataForTheTrainingIsNone) {
  EXPECT_EQ(first_lines({"@torch.no_grad()", "def labels_for(x):", "    return net(x).argmax(1)",
                         "loss.backward()"}),
            Lines{});
  EXPECT_EQ(first_lines({"@torch.no_grad()", "def play(net):", "    games = []",
                         "    return games, reward / 2", "loss.backward()"}),
            Lines{});
}

TEST(SourceValidation, WhoTrainsWithoutGradientsTrainsByMeasuring) {
  EXPECT_EQ(first_lines({"@torch.no_grad()", "def fitness(net):", "    return f(net).mean()"}),
            Lines{});
}

TEST(SourceValidation, WhatTrainsIsNone) {
  EXPECT_EQ(first_lines({"def epoch():", "    net.eval()", "    loss.backward()",
                         "    return loss.item()"}),
            Lines{});
  EXPECT_EQ(first_lines({"def step(x):", "    return loss_of(x).item()"}), Lines{});
}

}  // namespace
}  // namespace headway
