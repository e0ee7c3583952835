// The native eye on difficult programs: without symbols, without libraries, with code that was just
// generated, with thousands of threads.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "headway/core/clock.h"
#include "headway/probe/native/native_eye.h"

namespace headway {
namespace {

constexpr int64_t kLookNs = 500'000'000;  // as long as a look may take
constexpr size_t kMostKept = 64 << 20;

// One of the programs of native_target.cpp, running.
class Target {
 public:
  Target(const char* program, const char* what, const char* number = nullptr) {
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[0]), ::close(ends[1]);
      ::execl(program, program, what, number, nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    std::FILE* said = ::fdopen(ends[0], "r");
    if (std::fscanf(said, "ready %d", &threads_) != 1) threads_ = -1;
    std::fclose(said);
  }
  ~Target() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  int threads() const { return threads_; }  // besides the main one; -1: it did not start

 private:
  pid_t pid_ = 0;
  int threads_ = -1;
};

// Looks as the watcher does, and returns what was seen.
Outside seen_of(const Target& target, int looks = 40) {
  NativeEye eye;
  eye.watch(target.pid());
  ThreadCounters counters(target.pid());
  for (int i = 0; i < looks; ++i) {
    const int64_t stop_ns = now_ns() + kLookNs;
    const auto threads = counters.read();
    eye.look_for_takers(threads, i, stop_ns);
    eye.prepare(stop_ns);
    eye.read_samples(true, i, stop_ns);
    eye.account_of(Account::kComputes, stop_ns);
    EXPECT_LE(eye.kept_bytes(), kMostKept);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  Outside out;
  eye.put_into(out);
  return out;
}

// The function with the most hits.
std::string hottest(const Outside& seen) {
  return seen.native.functions.empty() ? "" : seen.native.functions[0].function;
}

TEST(NativeTargets, AProgramWithoutSymbolsHasNoNamesAndNoneAreGuessed) {
  const Target target(HEADWAY_STRIPPED_TARGET, "burn");
  ASSERT_GE(target.threads(), 0);
  const Outside seen = seen_of(target);
  if (!seen.native.why_not.empty()) GTEST_SKIP() << seen.native.why_not;
  ASSERT_GT(seen.native.samples, 5);
  EXPECT_EQ(hottest(seen), "");
  EXPECT_EQ(seen.native.functions[0].library, "native_target_stripped");
}

TEST(NativeTargets, AProgramWithoutLibrariesIsReadLikeAnyOther) {
  const Target target(HEADWAY_STATIC_TARGET, "burn");
  ASSERT_GE(target.threads(), 0);
  const Outside seen = seen_of(target);
  if (!seen.native.why_not.empty()) GTEST_SKIP() << seen.native.why_not;
  ASSERT_GT(seen.native.samples, 5);
  EXPECT_EQ(hottest(seen), "target_burns");
}

TEST(NativeTargets, CodeThatWasMadeWhileItRunsIsAClassOfItsOwn) {
  const Target target(HEADWAY_STATIC_TARGET, "generated");
  ASSERT_GE(target.threads(), 0);
  const Outside seen = seen_of(target);
  if (!seen.native.why_not.empty()) GTEST_SKIP() << seen.native.why_not;
  ASSERT_GT(seen.native.samples, 5);
  EXPECT_EQ(seen.native.functions[0].kind, NativeKind::kGenerated);
}

TEST(NativeTargets, OnesThatWaitAreReadAsFarAsTheirFilesTell) {
  // Linked without libraries, a program has no sorted table of its frames: the stack ends at once.
  const std::pair<const char*, size_t> programs[] = {{HEADWAY_STRIPPED_TARGET, 2},
                                                     {HEADWAY_STATIC_TARGET, 1}};
  for (const auto& [program, told] : programs) {
    const Target target(program, "wait");
    ASSERT_GE(target.threads(), 0);
    NativeImages images;
    NativeStacks stacks(target.pid(), *file_user_of(target.pid()), images);
    size_t frames = 0;
    for (int i = 0; i < 100 && frames == 0; ++i) {
      frames = stacks.waiting(target.pid(), MemoryReader(target.pid())).size();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_GE(frames, told) << program;
  }
}

TEST(NativeTargets, FiveThousandThreadsAreLookedThroughInTurn) {
  const Target target(HEADWAY_STRIPPED_TARGET, "threads", "5000");
  if (target.threads() < 5000) GTEST_SKIP() << "only " << target.threads() << " threads start here";
  const Outside seen = seen_of(target, 15);
  if (!seen.native.why_not.empty()) GTEST_SKIP() << seen.native.why_not;
  EXPECT_GT(seen.native.samples, 5);
}

}  // namespace
}  // namespace headway
