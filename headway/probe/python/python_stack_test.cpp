#include "headway/probe/python/python_stack.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "headway/probe/python/python_values.h"
#include "headway/probe/python/started_python.h"

namespace headway {
namespace {

const PythonThread* main_thread(const PythonThreads& threads, pid_t pid) {
  for (const PythonThread& thread : threads.read)
    if (thread.tid == pid) return &thread;
  return nullptr;
}

TEST(PythonStack, ReadsFunctionsLinesAndVariablesOfAWaitingProgram) {
  const StartedPython python(
      "import time\n"
      "def inner(step):\n"
      "    path = 'a.png'\n"
      "    print('ready', flush=True)\n"
      "    time.sleep(600)\n"
      "def outer():\n"
      "    inner(12345)\n"
      "outer()\n");
  ASSERT_TRUE(python.ready());
  const auto runtime = find_python(python.pid());
  if (!runtime) GTEST_SKIP() << "no Python here, or not to be read";
  PythonStacks stacks(python.pid(), *runtime);
  const auto threads = stacks.read();
  const PythonThread* main = main_thread(threads, python.pid());
  ASSERT_TRUE(main);
  ASSERT_EQ(main->frames.size(), 3u);
  EXPECT_EQ(main->frames[0].code->function, "inner");
  EXPECT_TRUE(main->frames[0].line == 4 || main->frames[0].line == 5);
  EXPECT_EQ(main->frames[1].line, 7);
  EXPECT_EQ(main->frames[2].code->function, "<module>");
  EXPECT_EQ(main->frames[2].line, 8);
  PythonValues values(stacks);
  std::string step, path;
  for (const SeenValue& value : values.read(main->frames[0], true)) {
    if (value.name == "step") step = value.value;
    if (value.name == "path") path = value.value;
  }
  EXPECT_EQ(step, "12345");
  EXPECT_EQ(path, "a.png");
}

TEST(PythonStack, RecursionThatNeverStandsStillDoesNotFoolIt) {
  const StartedPython python(
      "def down(n):\n"
      "    return down(n - 1) if n else sum(i for i in range(5))\n"
      "print('ready', flush=True)\n"
      "while True:\n"
      "    for depth in range(0, 80, 7):\n"
      "        down(depth)\n");
  ASSERT_TRUE(python.ready());
  const auto runtime = find_python(python.pid());
  if (!runtime) GTEST_SKIP() << "no Python here, or not to be read";
  PythonStacks stacks(python.pid(), *runtime);
  constexpr double kPatienceS = 0.03;  // as `attach --stacks` has
  int read = 0, wrong = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto threads = stacks.read(kPatienceS);
    const PythonThread* main = main_thread(threads, python.pid());
    if (!main || main->torn || main->frames.empty()) continue;
    ++read;
    const size_t frames = main->frames.size();
    bool right = main->frames[frames - 1].code->function == "<module>";
    for (size_t k = 0; k + 1 < frames; ++k)
      right = right &&
              (main->frames[k].code->function == "down" ||
               (k == 0 && main->frames[k].code->function.find("<genexpr>") != std::string::npos));
    wrong += !right;
  }
  EXPECT_GE(read, 100);  // a busy machine tears many; tests/foreign/stack_agreement.py counts
  EXPECT_LE(wrong, read / 200);
  EXPECT_TRUE(python.alive());
}

TEST(PythonStack, AProcessWithoutPythonIsNoPython) {
  std::string problem;
  EXPECT_FALSE(find_python(getpid(), &problem));
  EXPECT_FALSE(problem.empty());
}

TEST(PythonStack, PathsTellTheVersion) {
  EXPECT_EQ(version_in_path("/usr/lib/libpython3.10.so.1.0"), (PythonVersion{3, 10}));
  EXPECT_FALSE(version_in_path("/usr/bin/python3"));
}

}  // namespace
}  // namespace headway
