#include "headway/probe/python/shape_clash.h"

#include <gtest/gtest.h>

#include "headway/probe/python/started_python.h"

namespace headway {
namespace {

// What is found in a running function of Debian's PyTorch that subtracts `target` from
// `prediction`; -1 if it cannot be run or read.
int64_t line_for(const std::string& prediction, const std::string& target) {
  const StartedPython python(
      "import sys, time\n"
      "try:\n"
      "    import torch\n"
      "except ImportError:\n"
      "    sys.exit()\n"
      "def loss_of(prediction, target):\n"
      "    print('ready', flush=True)\n"
      "    time.sleep(60)\n"
      "    return ((prediction - target) ** 2).mean()\n"
      "loss_of(" +
          prediction + ", " + target + ")\n",
      "/usr/bin/python3");
  const auto runtime = python.ready() ? find_python(python.pid()) : std::nullopt;
  if (!runtime) return -1;
  PythonStacks stacks(python.pid(), *runtime);
  const PythonThreads threads = stacks.read(0.1);
  ShapeClash clash(stacks);
  if (threads.read.empty()) return -1;
  for (const PythonFrame& frame : threads.read[0].frames)
    if (const int64_t line = clash.line_in(frame, {{"prediction", "target", 9}}); line > 0)
      return line;
  return 0;
}

TEST(ShapeClash, AColumnLessARowIsFound) {
  const int64_t line = line_for("torch.zeros(32, 1)", "torch.zeros(32)");
  if (line < 0) GTEST_SKIP() << "no PyTorch here, or not to be read";
  EXPECT_EQ(line, 9);
  EXPECT_EQ(line_for("torch.zeros(32)", "torch.zeros(32, 1)"), 9);
}

TEST(ShapeClash, WhatFitsIsNone) {
  const int64_t line = line_for("torch.zeros(32, 1)", "torch.zeros(32, 1)");
  if (line < 0) GTEST_SKIP() << "no PyTorch here, or not to be read";
  EXPECT_EQ(line, 0);
  EXPECT_EQ(line_for("torch.zeros(32, 1)", "torch.zeros(8)"), 0);  // points against centres
  EXPECT_EQ(line_for("torch.zeros(1, 1)", "torch.zeros(1)"), 0);
  EXPECT_EQ(line_for("torch.zeros(32, 4)", "torch.zeros(4)"), 0);
  EXPECT_EQ(line_for("0.5", "torch.zeros(4)"), 0);
}

}  // namespace
}  // namespace headway
