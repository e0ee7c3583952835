#include "headway/probe/neighbours.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace headway {
namespace {

namespace fs = std::filesystem;

class NeighboursTest : public testing::Test {
 protected:
  NeighboursTest() : proc_(fs::temp_directory_path() / fmt::format("neighbours-{}", getpid())) {
    fs::create_directories(proc_);
  }
  ~NeighboursTest() override { fs::remove_all(proc_); }

  void put(pid_t pid, const char* name, pid_t parent, double cpu_s, uint64_t started = 900,
           int64_t flags = 0) {
    fs::create_directories(proc_ / std::to_string(pid));
    std::ofstream(proc_ / std::to_string(pid) / "stat")
        << fmt::format("{} ({}) R {} 1 1 0 -1 {} 0 0 0 0 {} 0 0 0 20 0 1 0 {} 0 0\n", pid, name,
                       parent, flags, int64_t(cpu_s * double(sysconf(_SC_CLK_TCK))), started);
  }

  fs::path proc_;
};

TEST_F(NeighboursTest, NamesTheBusiestThatAreNotOurs) {
  Neighbours neighbours(proc_);
  const Neighbours::Own own{.run = {10}, .watcher = 20, .relay = 30};
  put(10, "python3", 20, 0), put(20, "headway", 30, 0), put(30, "headway", 1, 0);
  put(31, "headway", 30, 0), put(40, "ffmpeg", 1, 5), put(41, "cc1plus", 1, 0);
  put(2, "kswapd0", 0, 0, 900, 0x200000), put(50, "sleep", 1, 0);
  neighbours.look(0, 0.95, own);
  EXPECT_TRUE(neighbours.busiest().empty());
  for (const pid_t pid : {10, 20, 30, 31}) put(pid, "headway", pid == 31 ? 30 : 1, 2);
  put(40, "ffmpeg", 1, 6), put(41, "cc1plus", 1, 2), put(2, "kswapd0", 0, 0.5, 900, 0x200000);
  neighbours.look(2, 0.95, own);
  ASSERT_EQ(neighbours.busiest().size(), 3u);
  EXPECT_EQ(neighbours.busiest()[0].name, "cc1plus");
  EXPECT_DOUBLE_EQ(neighbours.busiest()[0].cores, 1);
  EXPECT_EQ(neighbours.busiest()[1].pid, 40);
  EXPECT_DOUBLE_EQ(neighbours.busiest()[1].cores, 0.5);
  EXPECT_EQ(neighbours.busiest()[2].name, "kernel thread kswapd0");
}

TEST_F(NeighboursTest, AreForgottenWhenTheCoresAreFreeAgain) {
  Neighbours neighbours(proc_);
  put(40, "ffmpeg", 1, 0);
  neighbours.look(0, 0.95, {});
  put(40, "ffmpeg", 1, 2);
  neighbours.look(2, 0.95, {});
  EXPECT_EQ(neighbours.busiest().size(), 1u);
  neighbours.look(4, 0.3, {});
  EXPECT_TRUE(neighbours.busiest().empty());
}

TEST_F(NeighboursTest, ANumberThatIsAnothersNowUsedNothingBefore) {
  Neighbours neighbours(proc_);
  put(40, "ffmpeg", 1, 1, 900);
  neighbours.look(0, 0.95, {});
  put(40, "convert", 1, 3, 1500);
  neighbours.look(2, 0.95, {});
  EXPECT_TRUE(neighbours.busiest().empty());
}

TEST(CoreTimes, CountTheCoresOfTheRunOnly) {
  const double ticks = double(sysconf(_SC_CLK_TCK));
  const std::string stat =
      "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 100 10 20 300 5 1 2 7 0 0\ncpu1 50 0 0 500 0 0 0 0 0 0\n"
      "intr 5\n";
  EXPECT_DOUBLE_EQ(core_times(stat, {}).busy_s, 190 / ticks);
  EXPECT_DOUBLE_EQ(core_times(stat, {1}).busy_s, 50 / ticks);
  EXPECT_DOUBLE_EQ(core_times(stat, {0}).idle_s, 305 / ticks);
  EXPECT_EQ(numbers_of_list("0-2,8"), (std::set<int>{0, 1, 2, 8}));
  EXPECT_TRUE(numbers_of_list("").empty());
}

}  // namespace
}  // namespace headway
