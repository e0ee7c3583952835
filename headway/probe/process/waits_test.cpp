#include "headway/probe/process/waits.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "headway/probe/process/waits_for.h"

namespace headway {
namespace {

Wait kind(const std::string& text, std::vector<std::string> files = {}) {
  return wait_kind(parse_system_call(text), files);
}

TEST(Waits, ABlockedThreadSaysWhatItWaitsFor) {
  EXPECT_EQ(kind("running\n"), Wait::kNothing);
  EXPECT_EQ(kind("-1 0x7f 0x80"), Wait::kNothing);
  EXPECT_EQ(kind("202 0x7f 0x80"), Wait::kLock);
  EXPECT_EQ(kind("0 0x5 0x7f", {"pipe:[123]"}), Wait::kPipe);
  EXPECT_EQ(kind("0 0x5 0x7f", {"/data/a.rec"}), Wait::kDisk);
  EXPECT_EQ(kind("0 0x0 0x7f", {"/dev/pts/3"}), Wait::kTerminal);
  EXPECT_EQ(kind("0 0x9 0x7f", {"anon_inode:[eventfd]"}), Wait::kLock);
  EXPECT_EQ(kind("45 0x5 0x7f", {"socket:[9]"}), Wait::kSocket);
}

TEST(Waits, OnlyACallThatWaitsForAFileLockIsOne) {
  EXPECT_EQ(kind(fmt::format("{} 0x5 {:#x} 0x7f", SYS_fcntl, F_SETLKW)), Wait::kFileLock);
  EXPECT_EQ(kind(fmt::format("{} 0x5 0x26 0x7f", SYS_fcntl)), Wait::kFileLock);
  EXPECT_EQ(kind(fmt::format("{} 0x5 {:#x} 0x7f", SYS_fcntl, F_SETLK)), Wait::kOther);
  EXPECT_EQ(kind(fmt::format("{} 0x5 0x2", SYS_flock)), Wait::kFileLock);
}

TEST(Waits, SeveralDescriptorsOfOneKindAreThatKind) {
  const std::string poll = fmt::format("{} 0x7f 0x2 0x10", SYS_poll);
  EXPECT_EQ(kind(poll, {"socket:[1]", "socket:[2]"}), Wait::kSocket);
  EXPECT_EQ(kind(poll, {"socket:[1]", "anon_inode:[eventfd]"}), Wait::kSocket);
  EXPECT_EQ(kind(poll, {"socket:[1]", "pipe:[2]"}), Wait::kPoll);
  EXPECT_EQ(kind(poll, {}), Wait::kPoll);
  EXPECT_EQ(kind(fmt::format("{} 0x0 0x0 0x10", SYS_poll)), Wait::kSleep);
  EXPECT_EQ(kind(fmt::format("{} 0x0 0x0 0x0 0x0 0x7f", SYS_select)), Wait::kSleep);
}

// This process is the target: the arguments of its calls are in its own memory.
class OwnDescriptors : public testing::Test {
 protected:
  OwnDescriptors() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_), 0); }
  ~OwnDescriptors() override { ::close(ends_[0]), ::close(ends_[1]); }
  std::vector<int> asked(long number, uint64_t first, uint64_t second, uint64_t third = 0) {
    return descriptors_of(getpid(), {number, {first, second, third}}, MemoryReader(getpid()));
  }
  int ends_[2];
};

TEST_F(OwnDescriptors, OfPollAndSelectAreReadFromMemory) {
  pollfd polled[2] = {{ends_[0], POLLIN, 0}, {-1, 0, 0}};
  EXPECT_EQ(asked(SYS_poll, reinterpret_cast<uint64_t>(polled), 2), (std::vector{ends_[0]}));
  fd_set set;
  FD_ZERO(&set);
  FD_SET(ends_[1], &set);
  EXPECT_EQ(
      asked(SYS_pselect6, static_cast<uint64_t>(ends_[1] + 1), reinterpret_cast<uint64_t>(&set)),
      (std::vector{ends_[1]}));
}

TEST_F(OwnDescriptors, OfEpollAreReadFromTheKernel) {
  const int epoll = ::epoll_create1(0);
  epoll_event event{};
  ASSERT_EQ(::epoll_ctl(epoll, EPOLL_CTL_ADD, ends_[0], &event), 0);
  EXPECT_EQ(asked(SYS_epoll_wait, static_cast<uint64_t>(epoll), 0), (std::vector{ends_[0]}));
  ::close(epoll);
}

TEST_F(OwnDescriptors, LiesGiveNone) {
  EXPECT_TRUE(asked(SYS_poll, 8, ~uint64_t{0}).empty());
  EXPECT_TRUE(asked(SYS_select, ~uint64_t{0}, 16, 24).empty());
  EXPECT_TRUE(asked(SYS_epoll_wait, ~uint64_t{0}, 0).empty());
  EXPECT_TRUE(asked(SYS_read, ~uint64_t{0}, 0).empty());
}

TEST_F(OwnDescriptors, TheOtherEndOfAPairHasNoName) {
  const std::map<pid_t, std::string> tree;
  EXPECT_EQ(waits_for({getpid(), {SYS_read, {}}, Wait::kSocket, {ends_[0]}, &tree}), kSocketPair);
}

TEST(WaitsFor, APeerIsReadFromTheKernelsTable) {
  const char* const kTable =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
      "inode\n"
      "   0: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0 0 77 1\n"
      "   1: 0100007F:A000 0700000A:01BB 01 00000000:00000000 00:00000000 00000000  0 0 78 1\n";
  EXPECT_EQ(peer_in(kTable, 78), "10.0.0.7:443");
  EXPECT_EQ(peer_in(kTable, 77), "connections to port 8080");
  EXPECT_EQ(peer_in(kTable, 79), std::nullopt);
  EXPECT_EQ(peer_in("1: x y 0 0 0 0 0 0 5", 5), "connections to port 0");
}

TEST(WaitsFor, TheHolderOfALockIsTheOneBefore) {
  const char* const kLocks =
      "1: FLOCK  ADVISORY  WRITE 812 08:01:42 0 EOF\n"
      "1: -> FLOCK  ADVISORY  WRITE 900 08:01:42 0 EOF\n"
      "2: POSIX  ADVISORY  READ 813 08:01:43 0 EOF\n";
  EXPECT_EQ(holder_in(kLocks, 900), 812);
  EXPECT_EQ(holder_in(kLocks, 813), 0);
}

TEST(WaitsFor, ThePipesOtherEndIsFoundInTheRun) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t worker = ::fork();
  if (worker == 0)
    while (true) ::pause();
  const std::map<pid_t, std::string> tree{{getpid(), "python3"}, {worker, "worker"}}, alone;
  const SystemCall reads{SYS_read, {}};
  EXPECT_EQ(waits_for({getpid(), reads, Wait::kPipe, {ends[0]}, &tree}),
            fmt::format("process {} (worker)", worker));
  EXPECT_EQ(waits_for({getpid(), reads, Wait::kPipe, {ends[0]}, &alone}), "");
  EXPECT_EQ(waits_for({getpid(), {SYS_wait4, {~uint64_t{0}}}, Wait::kChild, {}, &tree}),
            fmt::format("process {} (worker)", worker));
  ::kill(worker, SIGKILL);
  ::waitpid(worker, nullptr, 0);
  ::close(ends[0]), ::close(ends[1]);
}

}  // namespace
}  // namespace headway
