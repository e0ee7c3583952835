#include "headway/probe/native/native_stack.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <limits>
#include <random>
#include <thread>

#include "headway/core/clock.h"
#include "headway/probe/native/cpu_sampler.h"

// Functions that a child of the test runs, with names that the compiler does not change. Not
// sanitized, because sanitizers add frames that only registers describe.
#define HEADWAY_PLAIN __attribute__((noinline, no_sanitize("address", "undefined")))
extern "C" {
HEADWAY_PLAIN void headway_test_innermost(int fd) {
  char byte;
  while (::syscall(SYS_read, fd, &byte, 1) != 0) continue;  // no sanitizer stands in between
}
HEADWAY_PLAIN void headway_test_middle(int fd) {
  // Allocates at run time: such frames are found through the frame pointer.
  volatile char* room = static_cast<char*>(__builtin_alloca(static_cast<size_t>(fd) * 16 + 64));
  room[0] = 1;
  headway_test_innermost(fd);
  room[1] = 2;
}
HEADWAY_PLAIN void headway_test_outer(int fd) {
  headway_test_middle(fd);
  asm volatile("");
}
HEADWAY_PLAIN void headway_test_burns() {
  volatile unsigned i = 0;
  for (;;) {
    const unsigned next = i + 1;
    i = next;
  }
}
HEADWAY_PLAIN void headway_test_calls_burns() {
  headway_test_burns();
  asm volatile("");
}
}

namespace headway {
namespace {

// A child that runs this until it is gone.
class Child {
 public:
  explicit Child(const std::function<void()>& work) : pid_(::fork()) {
    if (pid_ == 0) {
      work();
      ::_exit(0);
    }
  }
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

struct Reader {
  NativeImages images{};

  std::vector<std::string> names(const std::vector<NativeFrame>& frames) {
    std::vector<std::string> out;
    for (const NativeFrame& frame : frames) {
      if (!frame.image) {
        out.push_back("?");
        continue;
      }
      while (!frame.image->names.prepare(now_ns() + 1'000'000'000)) continue;
      out.push_back(frame.image->names.at(frame.address));
    }
    return out;
  }
  std::vector<std::string> of_waiting(pid_t pid) {
    NativeStacks stacks(pid, *file_user_of(pid), images);
    for (int i = 0; i < 200; ++i) {  // until it waits
      const auto found = names(stacks.waiting(pid, MemoryReader(pid)));
      if (found.size() > 3) return found;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return {};
  }
};

size_t place_of(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

TEST(NativeStacks, AThreadThatWaitsShowsItsCallers) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Child child([&] { headway_test_outer(ends[0]); });
  Reader reader;
  const auto names = reader.of_waiting(child.pid());
  const size_t innermost = place_of(names, "headway_test_innermost");
  ASSERT_LT(innermost, names.size()) << ::testing::PrintToString(names);
  ASSERT_LT(innermost + 2, names.size());
  EXPECT_EQ(names[innermost + 1], "headway_test_middle");
  EXPECT_EQ(names[innermost + 2], "headway_test_outer");
  EXPECT_LT(place_of(names, "main"), names.size()) << "to the very end";
  ::close(ends[0]), ::close(ends[1]);
}

TEST(NativeStacks, OneThatRunsHasNoneWithoutSamples) {
  const Child child([] { headway_test_calls_burns(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  Reader reader;
  NativeStacks stacks(child.pid(), *file_user_of(child.pid()), reader.images);
  bool runs = false;
  EXPECT_TRUE(stacks.waiting(child.pid(), MemoryReader(child.pid()), &runs).empty());
  EXPECT_TRUE(runs);
}

TEST(NativeStacks, NonsenseOnTheStackEndsTheWalk) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Child child([&] { headway_test_outer(ends[0]); });
  Reader reader;
  NativeStacks stacks(child.pid(), *file_user_of(child.pid()), reader.images);
  std::mt19937_64 random(7);
  for (int i = 0; i < 2000; ++i) {
    StackCopy stack{random(), std::string(4096, '\0')};
    for (char& c : stack.bytes) c = static_cast<char>(random());
    NativeRegisters registers;
    for (auto& value : registers) value = random() % 3 ? stack.address + random() % 4096 : random();
    registers[kReturnAddress] = reinterpret_cast<uint64_t>(&headway_test_middle) + random() % 64;
    EXPECT_LE(stacks.walk(registers, stack).size(), 96u);
  }
  ::close(ends[0]), ::close(ends[1]);
}

TEST(CpuSampler, SeesWhatBurnsTheCore) {
  std::string why_not;
  const auto sampler = CpuSampler::open(199, why_not);
  if (!sampler) GTEST_SKIP() << why_not;
  const Child child([] { headway_test_calls_burns(); });
  sampler->follow(child.pid());
  Reader reader;
  NativeStacks stacks(child.pid(), *file_user_of(child.pid()), reader.images);
  int samples = 0, burning = 0, called = 0;
  for (int i = 0; i < 300 && samples < 40; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    sampler->read(child.pid(), [&](const CpuSample& sample) {
      EXPECT_EQ(sample.pid, child.pid());
      const auto names = reader.names(stacks.walk(sample.registers, sample.stack));
      ++samples;
      const size_t at = place_of(names, "headway_test_burns");
      burning += at < names.size();
      called += at + 1 < names.size() && names[at + 1] == "headway_test_calls_burns";
    });
  }
  ASSERT_GE(samples, 10);
  EXPECT_GE(burning, samples * 8 / 10);
  EXPECT_EQ(called, burning);
}

// 0: hits were recorded, also from a thread that started later. 77: refused.
int sample_as_an_ordinary_user() {
  constexpr int kRefused = 77, kNobody = 65'534;
  if (::setresgid(kNobody, kNobody, kNobody) != 0 || ::setresuid(kNobody, kNobody, kNobody) != 0)
    return 1;
  ::prctl(PR_SET_DUMPABLE, 1);  // a process that changed its user must allow being read
  std::string why_not;
  const auto sampler = CpuSampler::open(199, why_not);
  if (!sampler) return kRefused;
  if (sampler->sees_all()) return kRefused;  // here everybody may see all
  int ends[2];
  if (::pipe(ends) != 0) return 2;
  const Child child([&] {
    char byte;
    if (::read(ends[0], &byte, 1) != 1) return;
    std::thread([] { headway_test_burns(); }).detach();
    headway_test_burns();
  });
  if (!sampler->follow(child.pid()) || ::write(ends[1], "x", 1) != 1) return 3;
  int of_main = 0, of_thread = 0;
  for (int i = 0; i < 500 && (of_main < 5 || of_thread < 5); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    sampler->read(child.pid(), [&](const CpuSample& sample) {
      ++(sample.tid == child.pid() ? of_main : of_thread);
    });
  }
  return of_main >= 5 && of_thread >= 5 ? 0 : 4;
}

TEST(CpuSampler, AnOrdinaryUserSamplesTheProcessThatIsFollowed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const pid_t user = ::fork();
  if (user == 0) ::_exit(sample_as_an_ordinary_user());
  int status = 0;
  ASSERT_EQ(::waitpid(user, &status, 0), user);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "ordinary users may not sample here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(CpuSampler, LostSamplesAreCountedAndNothingBreaks) {
  std::string why_not;
  const auto sampler = CpuSampler::open(2000, why_not);
  if (!sampler) GTEST_SKIP() << why_not;
  const Child child([] { headway_test_calls_burns(); });
  sampler->follow(child.pid());
  for (int i = 0; i < 100 && sampler->lost() == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    sampler->read(child.pid(), [](const CpuSample&) {});
  }
  EXPECT_GT(sampler->lost(), 0);
}

}  // namespace
}  // namespace headway
