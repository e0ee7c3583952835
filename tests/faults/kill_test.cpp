#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>

#include "headway/core/random.h"
#include "headway/io/bytes/temp_folder.h"

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

// How long a run is left alone follows the machine: 2 to 60% of what a calm run took, so that a
// run is hit at its start, at work and near its end on a fast disk as on a slow one.
TEST(Kill, FiftyTimesAnywhereAndTheBatchesAreTheSame) {
  const TempFolder calm;
  const auto begun = std::chrono::steady_clock::now();
  wait_for(start_feeder(calm.path(), 2));
  const std::chrono::duration<double, std::micro> calm_us =
      std::chrono::steady_clock::now() - begun;
  ASSERT_TRUE(std::filesystem::exists(calm.path("done")));

  Random random(2026, 0, 0, 0);
  auto killed = std::make_unique<TempFolder>();
  int kills = 0;
  for (int i = 0; kills < 50; ++i) {
    ASSERT_LT(i, 1000) << "only " << kills << " runs were still at work when they were killed";
    const pid_t child = start_feeder(killed->path(), 1 + i % 4);
    usleep(static_cast<useconds_t>(calm_us.count() * random.uniform(0.02, 0.6)));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    kills += WIFSIGNALED(status);
    if (!std::filesystem::exists(killed->path("done"))) continue;
    EXPECT_EQ(killed->read("digests"), calm.read("digests")) << "after " << kills << " kills";
    killed = std::make_unique<TempFolder>();  // came to its end: the next one begins anew
  }
  wait_for(start_feeder(killed->path(), 3));
  EXPECT_EQ(killed->read("digests"), calm.read("digests"));
}

}  // namespace
}  // namespace headway
