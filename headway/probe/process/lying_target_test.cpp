// Processes that pose as Python and contain false data everywhere. HEADWAY_LIES=20000 tries that
// many of each simulated kind (300 if not given), and a fortieth as many real processes.

#include "headway/probe/process/lying_target.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "headway/core/clock.h"
#include "headway/core/error.h"
#include "headway/probe/python/line_table.h"
#include "headway/probe/python/live_model.h"
#include "headway/probe/python/python_prints.h"
#include "headway/probe/python/python_stack.h"
#include "headway/probe/python/python_values.h"
#include "headway/probe/stack_counts.h"
#include "headway/probe/watcher.h"

// What the watcher looks for in a program: the children of this test are such programs. The first
// bytes are the runtime, everything else comes after them.
constexpr size_t kMemory = 64 << 10;
extern "C" {
alignas(4096) char _PyRuntime[kMemory] = {1};
}

namespace headway {
namespace {

constexpr int64_t kLookNs = 500'000'000;
constexpr double kHangS = 20;              // no look may take as long: sanitizers and neighbours
constexpr size_t kMostKept = 200 << 20;    // remembered of one target
constexpr long kMostGrownKb = 1500 << 10;  // a sanitizer holds back what was freed

int lies() {
  const char* asked = std::getenv("HEADWAY_LIES");
  return asked ? std::atoi(asked) : 300;
}

long peak_kb() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss;
}

struct Looked {
  size_t threads = 0, frames = 0, kept = 0;
  double longest_s = 0;
  std::vector<SeenFrame> first{};
  std::vector<SeenValue> values{};
};

// Does what the watcher does: reads stacks, their lines, variables, and prints.
Looked look_at(LyingMemory& memory, const PythonRuntime& runtime, int looks) {
  Looked out;
  answering = &memory;
  PythonStacks stacks(MemoryReader(getpid(), &answer), getpid(), runtime);
  PythonValues values(stacks);
  PythonPrints prints(stacks);
  LiveModel model(stacks);
  SourceLines sources(getpid());
  StackCounts counts;
  for (int i = 0; i < looks; ++i) {
    const int64_t began = now_ns();
    stacks.stop_at(began + kLookNs);
    const PythonThreads threads = stacks.read();
    for (const PythonThread& thread : threads.read) {
      if (thread.frames.empty() || stacks.memory().stopped()) continue;
      ++out.threads, out.frames += thread.frames.size();
      counts.add(thread, {Role::kMain, true, Wait::kNothing, false}, sources, double(i));
      if (out.first.empty()) out.first = seen_frames(thread, sources);
      for (const PythonFrame& frame : thread.frames)
        for (SeenValue& value : values.read(frame, true))
          if (out.values.size() < 60) out.values.push_back(std::move(value));
    }
    for (const bool errors : {false, true}) prints.read(errors);
    for (const PythonThread& thread : threads.read)
      if (!thread.frames.empty()) model.look(thread, 1000.0 * i, i);
    out.kept = std::max(out.kept, stacks.kept_bytes());
    out.longest_s = std::max(out.longest_s, 1e-9 * double(now_ns() - began));
  }
  return out;
}

class Python : public testing::TestWithParam<int> {
 protected:
  Python() : bytes_(kMemory), memory_(bytes_.data(), kMemory, 0x7f1200000000) {
    runtime_ = put_python(memory_, {3, GetParam()}, getpid(), "train.py");
  }
  std::vector<char> bytes_;
  LyingMemory memory_;
  PythonRuntime runtime_;
};

TEST_P(Python, AnHonestOneIsReadToTheLastVariable) {
  const Looked seen = look_at(memory_, runtime_, 1);
  ASSERT_EQ(seen.threads, 3u);
  ASSERT_EQ(seen.first.size(), 3u);
  EXPECT_EQ(seen.first[0].function, "inner");
  EXPECT_EQ(seen.first[0].line, 5);
  EXPECT_EQ(seen.first[1].line, 7);
  EXPECT_EQ(seen.first[2].function, "<module>");
  ASSERT_GE(seen.values.size(), 2u);
  EXPECT_EQ(seen.values[0].value, "12345");
  EXPECT_EQ(seen.values[1].value, "a.png");
}

TEST_P(Python, ALyingOneNeitherCrashesNorHoldsNorFillsUs) {
  const long before = peak_kb();
  double longest = 0;
  size_t kept = 0, read = 0;
  const int count = lies() / 7 + 1;  // of this version
  for (int i = 0; i < count; ++i) {
    std::mt19937_64 random(static_cast<uint64_t>(1000 * i + GetParam()));
    std::vector<char> bytes = bytes_;
    LyingMemory liar(memory_, bytes.data());
    for (uint64_t n = 1 + random() % 8; n > 0; --n) liar.lie(random);
    if (random() % 3 == 0) liar.repeat_without_end();
    if (random() % 4 == 0) liar.lead_on(random() % 2);
    if (random() % 3 == 0) liar.keep_lying(1 + static_cast<unsigned>(random() % 100), random());
    try {
      const Looked seen = look_at(liar, runtime_, 2);
      longest = std::max(longest, seen.longest_s), kept = std::max(kept, seen.kept);
      read += seen.frames > 0;
    } catch (const Error&) {  // an impossible layout
    }
    ASSERT_LT(longest, kHangS) << "variation " << i;
    ASSERT_LT(kept, kMostKept) << "variation " << i;
  }
  fmt::print(
      "3.{}: {} lies, {} still showed a stack; longest look {:.3f} s, kept {:.1f} MiB, grown "
      "{:.0f} MiB\n",
      GetParam(), count, read, longest, double(kept) / (1 << 20),
      double(peak_kb() - before) / 1024);
  EXPECT_GT(read, 0u);
  EXPECT_LT(peak_kb() - before, kMostGrownKb);
}

// Every thread links to new ones, with functions of their own, all of them valid and large.
TEST_P(Python, AnEndlessOneIsCutShort) {
  std::vector<char> bytes(kMemory);
  LyingMemory endless(bytes.data(), kMemory, 0x7f1200000000);
  const auto runtime = put_python(endless, {3, GetParam()}, getpid(), "train.py", 1 << 20);
  endless.repeat_without_end();
  endless.lead_on(false);
  const Looked seen = look_at(endless, runtime, 4);
  fmt::print("3.{}: {} frames in 4 looks, longest {:.3f} s, kept {:.1f} MiB\n", GetParam(),
             seen.frames, seen.longest_s, double(seen.kept) / (1 << 20));
  EXPECT_LT(seen.longest_s, kHangS);
  EXPECT_LT(seen.kept, kMostKept);
}

INSTANTIATE_TEST_SUITE_P(Versions, Python, testing::Range(8, 15),
                         [](const auto& version) { return fmt::format("3_{}", version.param); });

TEST(LyingTarget, LineTablesOfRubbishGiveALine) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10 * lies(); ++i) {
    std::string table(random() % 300, '\0');
    for (char& c : table) c = static_cast<char>(random());
    for (const LineTable kind : {LineTable::kLnotab, LineTable::kDeltas, LineTable::kLocations})
      line_of(kind, table, static_cast<int>(random()),
              static_cast<int64_t>(random() >> random() % 64));
  }
}

// A real process with such a memory, which changes while it is read.
TEST(LyingTarget, RealProcessesAreWatchedUnharmed) {
  double longest = 0;
  const int count = std::max(10, lies() / 40);
  int with_python = 0;
  for (int i = 0; i < count; ++i) {
    std::mt19937_64 random(static_cast<uint64_t>(i));
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      LyingMemory memory(_PyRuntime, kMemory, reinterpret_cast<uint64_t>(_PyRuntime));
      const int minor = 8 + i % 7;
      put_python(memory, {3, minor}, getpid(), i % 2 ? "/dev/zero" : "/proc/self/environ");
      std::memcpy(_PyRuntime, "xdebugpy", 8);
      const uint64_t version = 0x03000000u | static_cast<uint64_t>(minor) << 16;
      std::memcpy(_PyRuntime + 8, &version, sizeof version);
      for (uint64_t n = random() % 6; n > 0; --n) memory.lie(random);
      std::memcpy(_PyRuntime, "xdebugpy", 8);
      if (write(ends[1], "r", 1) != 1) _exit(1);
      while (true) {
        if (i % 3 == 0) memory.lie(random);
        ::usleep(200);
      }
    }
    close(ends[1]);
    char byte = 0;
    ASSERT_EQ(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    Watcher watcher(child, {});
    for (int n = 0; n < 3; ++n) {
      const int64_t began = now_ns();
      EXPECT_TRUE(watcher.look());
      longest = std::max(longest, 1e-9 * double(now_ns() - began));
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
    }
    const Trace trace = watcher.trace();
    with_python += !trace.outside.processes.empty() && !trace.outside.processes[0].python.empty();
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    ASSERT_LT(longest, kHangS) << "variation " << i;
  }
  fmt::print("{} processes, {} taken for Python; longest look {:.3f} s\n", count, with_python,
             longest);
  EXPECT_GT(with_python, count / 2);
}

}  // namespace
}  // namespace headway
