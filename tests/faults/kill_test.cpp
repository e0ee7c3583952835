#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "headway/core/random.h"
#include "headway/io/temp_folder.h"

namespace headway {
namespace {

pid_t start_feeder(const std::string& folder, int threads) {
  const pid_t child = fork();
  if (child == 0) {
    execl(FEEDER, FEEDER, folder.c_str(), std::to_string(threads).c_str(), nullptr);
    _exit(127);
  }
  return child;
}

void wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
}

TEST(Kill, FiftyTimesAnywhereAndTheBatchesAreTheSame) {
  const TempFolder calm, killed;
  wait_for(start_feeder(calm.path(), 2));
  ASSERT_TRUE(std::filesystem::exists(calm.path("done")));

  Random random(2026, 0, 0, 0);
  int kills = 0;
  for (int i = 0; i < 50; ++i) {
    const pid_t child = start_feeder(killed.path(), 1 + i % 4);
    // Long enough to get somewhere, short enough to be hit at work; start-up is hit too.
    usleep(static_cast<useconds_t>(random.uniform(500, 30'000)));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    kills += WIFSIGNALED(status);
    std::filesystem::remove(killed.path("done"));
  }
  wait_for(start_feeder(killed.path(), 3));
  EXPECT_GE(kills, 25) << "too few runs were still at work when they were killed";
  EXPECT_EQ(killed.read("digests"), calm.read("digests"));
}

}  // namespace
}  // namespace headway
