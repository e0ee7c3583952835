#include "headway/probe/python/python_prints.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <sstream>
#include <thread>

#include "headway/probe/python/started_python.h"

namespace headway {
namespace {

TEST(PythonPrints, ALineWrittenOverAnotherIsNew) {
  EXPECT_EQ(changed_lines("step 5 loss 0.251\n", "step 6 loss 0.249\n"), "step 6 loss 0.249\n");
}

TEST(PythonPrints, LinesThatStandThereStillAreNotNew) {
  EXPECT_EQ(changed_lines("a 1\n", "a 1\nb 2\n"), "b 2\n");
  EXPECT_EQ(changed_lines("a 1\n", "a 1\n"), "");
  EXPECT_EQ(changed_lines("a 1\nb 2\n", "a 1\n"), "");
}

TEST(PythonPrints, ABarThatEndsInNothingIsRead) {
  EXPECT_EQ(changed_lines("\r 45%| 45/100 [4it/s]", "\r 46%| 46/100 [4it/s]"),
            " 46%| 46/100 [4it/s]\n");
}

// Reads until the text holds what is wanted, for 20 s at most.
std::string read_until(PythonPrints& prints, bool errors, const std::string& wanted) {
  std::string out;
  for (int i = 0; i < 1000 && out.find(wanted) == std::string::npos; ++i) {
    out += prints.read(errors);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return out;
}

std::string printed_by(const std::string& print, bool errors, const std::string& wanted) {
  const StartedPython python(
      "import sys, time\n"
      "print('ready', flush=True)\n"
      "for step in range(100000):\n"
      "    time.sleep(0.01)\n"
      "    " +
      print + "\n");
  const auto runtime = python.ready() ? find_python(python.pid()) : std::nullopt;
  if (!runtime) return "no Python";
  PythonStacks stacks(python.pid(), *runtime);
  PythonPrints prints(stacks);
  return read_until(prints, errors, wanted);
}

TEST(PythonPrints, ReadsWhatAProgramFlushes) {
  const std::string text =
      printed_by("print(f'step {step} loss 0.5', flush=True)", false, "loss 0.5\n");
  if (text == "no Python") GTEST_SKIP() << "no Python here, or not to be read";
  EXPECT_NE(text.find("step "), std::string::npos) << text;
  EXPECT_NE(text.find(" loss 0.5\n"), std::string::npos) << text;
}

TEST(PythonPrints, ReadsWhatAProgramHoldsBack) {
  const std::string text = printed_by("print('step', step, 'loss 0.5')", false, "loss 0.5\n");
  if (text == "no Python") GTEST_SKIP() << "no Python here, or not to be read";
  EXPECT_NE(text.find(" loss 0.5\n"), std::string::npos) << text;
}

TEST(PythonPrints, WhatIsLeftOfALongerLineIsNotReadAgain) {
  const std::string text = printed_by(
      "print(f'step {step} ' + ('of many, loss 0.123456' if step % 50 == 0 else 'done'), "
      "flush=True)",
      false, "9 done\n");
  if (text == "no Python") GTEST_SKIP() << "no Python here, or not to be read";
  std::istringstream lines(text);
  std::set<std::string> seen;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(line.starts_with("step ")) << line;
    EXPECT_TRUE(seen.insert(line).second) << line << " was read twice";
  }
}

TEST(PythonPrints, ReadsStandardError) {
  const std::string text =
      printed_by("print(f'step {step} of many', file=sys.stderr)", true, " of many\n");
  if (text == "no Python") GTEST_SKIP() << "no Python here, or not to be read";
  EXPECT_NE(text.find(" of many\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace headway
