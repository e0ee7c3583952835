#include "headway/probe/process/proc_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

namespace headway {
namespace {

TEST(ProcFiles, AProgramMayBeCalledAnything) {
  const TaskStat stat = parse_stat(
      "42 (a) b (c) S 7 42 42 0 -1 4194304 100 0 3 0 250 50 30 10 20 0 12 0 900 1000000 256 "
      "18446744073709551615");
  EXPECT_EQ(stat.name, "a) b (c");
  EXPECT_EQ(stat.state, 'S');
  EXPECT_EQ(stat.parent, 7);
  EXPECT_EQ(stat.threads, 12);
  EXPECT_DOUBLE_EQ(stat.cpu_s, 300.0 / double(sysconf(_SC_CLK_TCK)));
  EXPECT_DOUBLE_EQ(stat.reaped_s, 40.0 / double(sysconf(_SC_CLK_TCK)));
}

TEST(ProcFiles, AProgramMayCallItselfAsALineOfItsStatus) {
  const std::string status =
      "Name:\tUid:\\t0 Gid: 7\nState:\tS\nUid:\t1000\t1000\nGid:\t\nNSpid:\t5\t2\n";
  EXPECT_EQ(status_field(status, "Uid"), "1000\t1000");
  EXPECT_EQ(status_field(status, "Gid"), "");
  EXPECT_EQ(status_field(status, "NSpid"), "5\t2");
  EXPECT_EQ(status_field(status, "Groups"), "");
}

TEST(ProcFiles, AThreadOfTheKernelIsKnownByItsFlags) {
  EXPECT_TRUE(parse_stat("2 (kthreadd) S 0 0 0 0 -1 2129984 0").of_the_kernel);
  EXPECT_FALSE(stat_of(getpid()).of_the_kernel);
  EXPECT_TRUE(stat_of(getpid()).alive());
  EXPECT_GT(stat_of(getpid()).started_ticks, 0u);
}

TEST(ProcFiles, NothingToReadGivesNothing) {
  EXPECT_EQ(parse_stat("").state, '?');
  EXPECT_EQ(file_text("/no/such/file"), "");
}

TEST(ProcFiles, ThisProcessIsInItsOwnTreeAndCounts) {
  EXPECT_EQ(process_tree(getpid())[0], getpid());
  const auto threads = ThreadCounters(getpid()).read();
  EXPECT_TRUE(
      std::any_of(threads.begin(), threads.end(), [](const auto& t) { return t.tid == getpid(); }));
}

}  // namespace
}  // namespace headway
