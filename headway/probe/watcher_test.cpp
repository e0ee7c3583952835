#include "headway/probe/watcher.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "headway/core/limits.h"

namespace headway {
namespace {

// A process that may use the first of our cores only, and waits.
class PinnedChild {
 public:
  PinnedChild() {
    cpu_set_t ours, one;
    sched_getaffinity(0, sizeof ours, &ours);
    int first = 0;
    while (!CPU_ISSET(first, &ours)) ++first;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    pid = ::fork();
    if (pid == 0)
      while (true) ::pause();
    sched_setaffinity(pid, sizeof one, &one);
  }
  ~PinnedChild() {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  pid_t pid;
};

TEST(Watcher, KnowsTheLimitsOfWhatItWatchesNotItsOwn) {
  if (read_limits().cpus < 2) GTEST_SKIP() << "one core: nothing to tell apart";
  const PinnedChild child;
  EXPECT_EQ(Watcher(child.pid, {}).trace().run.cpus, 1);
}

TEST(Watcher, NoticesThatWhatItWatchesEnded) {
  std::optional<PinnedChild> child(std::in_place);
  Watcher watcher(child->pid, {});
  EXPECT_TRUE(watcher.look());
  child.reset();
  EXPECT_FALSE(watcher.look());
  EXPECT_FALSE(watcher.look());
  EXPECT_TRUE(watcher.trace().outside.gone);
}

TEST(Watcher, SaysOfAZombieThatThereIsNothingToWatch) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t ended;
  ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  Watcher watcher(child, {});
  EXPECT_FALSE(watcher.look());
  EXPECT_NE(watcher.trace().outside.unwatched.find("has ended"), std::string::npos);
  ::waitpid(child, nullptr, 0);
}

TEST(Watcher, CountsWhatCannotBeReadAsUnknown) {
  const PinnedChild child;  // no Python
  Watcher watcher(child.pid, {});
  std::vector<LedgerEntry> entries;
  for (int i = 0; i < 500 && entries.empty(); ++i) {
    EXPECT_TRUE(watcher.look());
    ::usleep(20'000);
    for (const LedgerBlock& block : watcher.trace().outside.ledger)
      entries.insert(entries.end(), block.entries.begin(), block.entries.end());
  }
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].account, Account::kUnknown);
  EXPECT_EQ(entries[0].device, DeviceState::kNone);
  EXPECT_GT(entries[0].looks, 0);
}

TEST(RandomFactor, IsOneOnAverageAndNeverTheSame) {
  RandomFactor random(7);
  double sum = 0, before = 0;
  for (int i = 0; i < 10000; ++i) {
    const double factor = random.next();
    EXPECT_GE(factor, 0.5);
    EXPECT_LE(factor, 1.5);
    EXPECT_NE(factor, before);
    sum += before = factor;
  }
  EXPECT_NEAR(sum / 10000, 1, 0.02);
}

}  // namespace
}  // namespace headway
