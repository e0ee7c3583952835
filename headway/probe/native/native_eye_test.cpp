#include "headway/probe/native/native_eye.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "headway/core/clock.h"

// Stands in for TensorFlow's operator: the eye recognises it by its name on the stack.
namespace tensorflow::data {
struct IteratorGetNextOp {
  // Waits for a byte: 0 ends it, 1 makes it work forever.
  __attribute__((noinline, no_sanitize("address", "undefined"))) static void DoCompute(int fd) {
    char byte = 0;
    while (::syscall(SYS_read, fd, &byte, 1) < 0) continue;
    volatile unsigned turns = 0;
    while (byte == 1) {
      const unsigned next = turns + 1;
      turns = next;
    }
  }
};
}  // namespace tensorflow::data

namespace headway {
namespace {

constexpr int64_t kLongNs = 2'000'000'000;

// A process whose second thread takes an element, and then waits elsewhere.
class Program {
 public:
  Program() {
    if (::pipe(ends_) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ != 0) return;
    std::thread taker([this] {
      tensorflow::data::IteratorGetNextOp::DoCompute(ends_[0]);
      for (;;) ::pause();
    });
    for (;;) ::pause();
  }
  ~Program() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(ends_[0]), ::close(ends_[1]);
  }
  void give(char byte) const { ASSERT_EQ(::write(ends_[1], &byte, 1), 1); }
  pid_t pid() const { return pid_; }

 private:
  int ends_[2];
  pid_t pid_;
};

// Looks until this holds, for 10 s at most.
template <typename Holds>
bool soon(NativeEye& eye, const Program& program, Holds holds) {
  ThreadCounters threads(program.pid());
  for (int i = 0; i < 500; ++i) {
    eye.watch(program.pid());
    eye.prepare(now_ns() + kLongNs);
    eye.read_samples(true, 1, now_ns() + kLongNs);
    eye.look_for_takers(threads.read(), 1, now_ns() + kLongNs);
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

TEST(NativeEye, AStepWaitsForDataWhileAnElementIsWantedAndNoLonger) {
  const Program program;
  NativeEye eye;
  const auto account = [&] { return eye.account_of(Account::kComputes, now_ns() + kLongNs); };
  EXPECT_EQ(account(), Account::kComputes) << "nobody was seen to take elements";
  ASSERT_TRUE(soon(eye, program, [&] { return account() == Account::kWaitsForData; }));
  EXPECT_EQ(eye.account_of(Account::kValidates, now_ns() + kLongNs), Account::kValidates);
  program.give(0);
  EXPECT_TRUE(soon(eye, program, [&] { return account() == Account::kComputes; }));
  Outside seen;
  eye.put_into(seen);
  EXPECT_GE(seen.native.takers_since_s, 0);
}

TEST(NativeEye, WhoWorksForThePipelineIsCountedAndNamed) {
  const Program program;
  NativeEye eye;
  program.give(1);
  Outside seen;
  const bool came = soon(eye, program, [&] {
    seen = {};
    eye.put_into(seen);
    return !seen.native.why_not.empty() || seen.native.input_samples >= 5;
  });
  if (!seen.native.why_not.empty()) GTEST_SKIP() << seen.native.why_not;
  ASSERT_TRUE(came);
  ASSERT_FALSE(seen.native.functions.empty());
  EXPECT_EQ(seen.native.functions[0].function, "tensorflow::data::IteratorGetNextOp::DoCompute");
  EXPECT_EQ(seen.native.functions[0].kind, NativeKind::kTakesElement);
  EXPECT_TRUE(seen.native.functions[0].input);
  EXPECT_FALSE(seen.native.functions[0].main_thread);
}

}  // namespace
}  // namespace headway
