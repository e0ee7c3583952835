#include "headway/probe/python/live_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "headway/probe/python/started_python.h"

namespace headway {
namespace {

// A training with Debian's PyTorch that goes on while it is watched.
std::string program(const std::string& made, const std::string& step) {
  return "import sys, time\n"
         "try:\n"
         "    import torch\n"
         "except ImportError:\n"
         "    sys.exit()\n"
         "from torch import nn\n"
         "torch.manual_seed(1)\n"
         "def train():\n"
         "    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))\n" +
         made +
         "    print('ready', flush=True)\n"
         "    while True:\n"
         "        x = torch.randn(4, 6)\n"
         "        loss = ((model(x) - 1) ** 2).mean()\n" +
         step +
         "        time.sleep(0.002)\n"
         "train()\n";
}

constexpr const char* kSound =
    "        optimizer.zero_grad()\n"
    "        loss.backward()\n"
    "        optimizer.step()\n";

// What ten looks at it show; no looks if it cannot be run or read.
LiveModel* look_at(const StartedPython& python, std::unique_ptr<PythonStacks>& stacks,
                   std::unique_ptr<LiveModel>& model) {
  const auto runtime = python.ready() ? find_python(python.pid()) : std::nullopt;
  if (!runtime) return nullptr;
  stacks = std::make_unique<PythonStacks>(python.pid(), *runtime);
  model = std::make_unique<LiveModel>(*stacks);
  for (int i = 0; i < 12; ++i) {
    const PythonThreads threads = stacks->read(0.1);
    // A simulated clock: one look per minute, so that none is too early.
    if (!threads.read.empty()) model->look(threads.read[0], 60.0 * i, 10 * i);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  return model.get();
}

class LiveModelTest : public testing::Test {
 protected:
  bool watch(const std::string& made, const std::string& step) {
    python_ = std::make_unique<StartedPython>(program(made, step), "/usr/bin/python3");  // Debian's
    return look_at(*python_, stacks_, model_) != nullptr;
  }
  const SeenModel& seen() const { return model_->seen(); }

  std::unique_ptr<StartedPython> python_;
  std::unique_ptr<PythonStacks> stacks_;
  std::unique_ptr<LiveModel> model_;
};

TEST_F(LiveModelTest, WeightsThatLearnAreSeenToMove) {
  if (!watch("    optimizer = torch.optim.Adam(model.parameters(), lr=0.004)\n", kSound))
    GTEST_SKIP() << "no PyTorch here, or not to be read";
  EXPECT_EQ(seen().weights, 4);
  EXPECT_EQ(seen().held, 4);
  EXPECT_EQ(seen().held_in_model, 4);
  EXPECT_EQ(seen().moved, 4);
  EXPECT_EQ(seen().with_gradient, 4);
  EXPECT_EQ(seen().optimizer, "Adam");
  EXPECT_EQ(seen().rate, 0.004);
  ASSERT_EQ(model_->weights().size(), 4u);
  EXPECT_EQ(model_->weights()[0].name, "0.weight");
  EXPECT_EQ(model_->weights()[0].values, 48);
  EXPECT_FALSE(model_->weights()[0].identical_units);
  EXPECT_GT(model_->numbers().back().weights[0], 0.01);
}

TEST_F(LiveModelTest, AnOptimizerOfAnotherModelIsSeen) {
  if (!watch("    other = nn.Linear(6, 8).parameters()\n"
             "    optimizer = torch.optim.SGD(list(other), lr=0.1)\n",
             "        loss.backward()\n        optimizer.step()\n"))
    GTEST_SKIP() << "no PyTorch here, or not to be read";
  EXPECT_EQ(seen().held, 2);
  EXPECT_EQ(seen().held_in_model, 0);
  EXPECT_EQ(seen().moved, 0);
  EXPECT_EQ(seen().left_out, 4);
}

TEST_F(LiveModelTest, AGradientThatNeverComesIsSeen) {
  if (!watch(
          "    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n",
          "        loss = torch.tensor(loss.item(), requires_grad=True)\n" + std::string(kSound)))
    GTEST_SKIP() << "no PyTorch here, or not to be read";
  EXPECT_EQ(seen().held_in_model, 4);
  EXPECT_EQ(seen().with_gradient, 0);
  EXPECT_EQ(seen().moved, 0);
}

TEST_F(LiveModelTest, UnitsThatAreAlikeAreSeen) {
  if (!watch("    for p in model.parameters(): nn.init.constant_(p, 0.1)\n"
             "    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)\n",
             kSound))
    GTEST_SKIP() << "no PyTorch here, or not to be read";
  ASSERT_EQ(model_->weights().size(), 4u);
  EXPECT_TRUE(model_->weights()[0].identical_units);
  EXPECT_EQ(seen().moved, 4);
}

TEST_F(LiveModelTest, NamesThatAreNotCodeAreNotKept) {
  if (!watch("    model.add_module('ask bob@host', nn.Linear(8, 1))\n"
             "    optimizer = torch.optim.SGD(model[:3].parameters(), lr=0.01)\n"
             "    extra, model = model, model[:3]\n",
             kSound))
    GTEST_SKIP() << "no PyTorch here, or not to be read";
  bool unnamed = false;
  for (const WeightFacts& weight : model_->weights()) {
    EXPECT_EQ(weight.name.find("bob"), std::string::npos);
    unnamed |= weight.name.empty();
  }
  EXPECT_TRUE(unnamed);
}

TEST_F(LiveModelTest, HooksThatAreRegisteredInEveryStepAreCounted) {
  const std::string made = "    optimizer = torch.optim.Adam(model.parameters(), lr=0.004)\n";
  if (!watch(made, kSound)) GTEST_SKIP() << "no PyTorch here, or not to be read";
  EXPECT_EQ(seen().hooks, 0);
  ASSERT_TRUE(watch(made + "    model[1].register_forward_hook(print_nothing := lambda *a: None)\n",
                    kSound));
  EXPECT_EQ(seen().hooks, 1);
  EXPECT_EQ(seen().hooks_grew, 0);
  const std::string again = "        model[0].register_forward_hook(lambda *a: None)\n";
  ASSERT_TRUE(watch(made, kSound + again));
  EXPECT_GT(seen().hooks, seen().first_hooks);
  EXPECT_GT(seen().hooks_grew, 4);
}

TEST_F(LiveModelTest, WhatTheFirstLayerIsGivenIsRead) {
  const std::string made =
      "    model[0] = nn.Linear(6, 300000)\n"
      "    model[2] = nn.Linear(300000, 1)\n"
      "    optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)\n";
  const std::string step =  // nearly all of the time, so that it is seen at work
      "        batch = 500 + 100 * torch.randn(4, 6)\n"
      "        for _ in range(500): model[0](batch)\n";
  if (!watch(made, step)) GTEST_SKIP() << "no PyTorch here, or not to be read";
  EXPECT_EQ(model_->weights().at(0).fan_in, 6);
  const auto read = [](const NumbersReading& look) { return look.input_std >= 0; };
  const auto& looks = model_->numbers();
  const auto found = std::find_if(looks.begin(), looks.end(), [&](const NumbersReading& look) {
    return read(look) && look.input_mean > 100;
  });
  ASSERT_NE(found, looks.end());
  EXPECT_NEAR(found->input_mean, 500, 120);
  EXPECT_NEAR(found->input_std, 100, 60);
}

TEST_F(LiveModelTest, TheArrayWithTheLargestNumbersIsTheOneThatIsTold) {
  const std::string made =
      "    import numpy\n"
      "    numpy.random.seed(2)\n"
      "    readings = numpy.random.normal(2000, 1, (300, 6)).astype('float32')\n"
      "    scaled = (readings - 2000).astype('float64')\n"
      "    turned = numpy.full((300, 6), 1e9).T\n"     // not in C order
      "    numbers = numpy.full((300, 6), 10 ** 9)\n"  // not floats
      "    few = numpy.full((3, 6), 1e9)\n"
      "    optimizer = torch.optim.Adam(model.parameters(), lr=0.004)\n";
  if (!watch(made, kSound)) GTEST_SKIP() << "no PyTorch here, or not to be read";
  EXPECT_EQ(seen().array_name, "readings");
  EXPECT_NEAR(seen().array_size, 2000, 2);
}

TEST_F(LiveModelTest, AModelThatAnObjectHoldsIsFound) {
  const std::string made =
      "    class Trainer_:\n"
      "        def __init__(self, model):\n"
      "            self.net = model\n"
      "            self.opt = torch.optim.SGD(model.parameters(), lr=0.01)\n"
      "        def run(self):\n"
      "            print('ready', flush=True)\n"
      "            while True:\n"
      "                loss = (self.net(torch.randn(4, 6)) ** 2).mean()\n"
      "                self.opt.zero_grad(); loss.backward(); self.opt.step()\n"
      "    worker = Trainer_(model)\n"
      "    del model\n"
      "    worker.run()\n";
  if (!watch(made, kSound)) GTEST_SKIP() << "no PyTorch here, or not to be read";
  EXPECT_EQ(seen().weights, 4);
  EXPECT_EQ(seen().moved, 4);
}

}  // namespace
}  // namespace headway
