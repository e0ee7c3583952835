#include "headway/data/autotune.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

constexpr int64_t kInterval = 100'000'000;

// `workers` busy all the time, each on a core, waiting for one, or blocked for these shares of it.
WorkerTimes times(int workers, double on_core, double waiting_for_core) {
  const double all = double(kInterval) * workers;
  return {kInterval, int64_t(all), int64_t(all * on_core), int64_t(all * waiting_for_core),
          workers};
}

TEST(Autotune, LeavesCpuBoundWorkersAlone) {
  EXPECT_EQ(wanted_threads(times(2, 0.98, 0.01), 2, 32), 2);
}

TEST(Autotune, AddsWorkersWhenTheyAreBlocked) {
  EXPECT_EQ(wanted_threads(times(2, 0.1, 0), 2, 32), 4);
  EXPECT_EQ(wanted_threads(times(4, 0.4, 0), 2, 32), 5);
}

TEST(Autotune, StopsAtTheMost) { EXPECT_EQ(wanted_threads(times(24, 0.01, 0), 2, 32), 32); }

TEST(Autotune, TakesWorkersAwayThatFightForCores) {
  EXPECT_EQ(wanted_threads(times(8, 0.25, 0.75), 2, 32), 2);
}

TEST(Autotune, DoesNotGiveUpWorkersBecauseAnotherProgramIsBusy) {
  EXPECT_EQ(wanted_threads(times(2, 0.5, 0.5), 2, 32), 2);
  EXPECT_EQ(wanted_threads(times(64, 0.005, 0.1), 2, 128), 128);
}

TEST(Autotune, KeepsWorkersThatMostlyWaitOnceTheCoresAreFull) {
  EXPECT_EQ(wanted_threads(times(43, 0.046, 0.12), 2, 128), 43);
}

TEST(Autotune, DoesNothingForWorkersWithoutWork) {
  WorkerTimes idle = times(2, 0.05, 0);
  idle.busy_ns /= 10;
  EXPECT_EQ(wanted_threads(idle, 2, 32), 2);
}

TEST(Autotune, StartsWithinAQuota) {
  WorkerPool pool;
  EXPECT_EQ(
      Autotune(pool, {.cpus = 1.5, .memory_bytes = 0, .cpu_source = "quota"}, {}).first_choice(),
      1);
  EXPECT_EQ(
      Autotune(pool, {.cpus = 0.2, .memory_bytes = 0, .cpu_source = "quota"}, {}).first_choice(),
      1);
  EXPECT_EQ(
      Autotune(pool, {.cpus = 8, .memory_bytes = 0, .cpu_source = "cores"}, {}).first_choice(), 8);
  EXPECT_EQ(Autotune(pool, {.cpus = 8, .memory_bytes = 0, .cpu_source = "cores"}, 3).first_choice(),
            3);
}

}  // namespace
}  // namespace headway
