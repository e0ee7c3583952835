#include "headway/trace/system_reader.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "headway/core/fake_machine.h"

namespace headway {
namespace {

using testing::FakeMachine;

TEST(SystemReader, ReadsTheProcess) {
  FakeMachine machine;
  machine.set("/proc/self/stat",
              "7 (a) b (c) R 1 7 7 0 -1 4194304 100 0 12 0 250 50 0 0 20 0 4 0 1 1000000 2 0 0\n");
  machine.set("/proc/self/status", "Name:\tx\nVmData:\t 2000 kB\nVmSwap:\t  12 kB\n");
  machine.set("/proc/self/io", "rchar: 1000\nwchar: 5\nsyscr: 3\nsyscw: 1\nread_bytes: 4096\n");
  const SystemReading reading = SystemReader(machine.root).sample();
  EXPECT_DOUBLE_EQ(reading.cpu_s, 300.0 / double(sysconf(_SC_CLK_TCK)));
  EXPECT_EQ(reading.major_faults, 12);
  EXPECT_EQ(reading.threads, 4);
  EXPECT_EQ(reading.rss_bytes, 2 * sysconf(_SC_PAGESIZE));
  EXPECT_EQ(reading.writable_bytes, 2000 * 1024);
  EXPECT_EQ(reading.swap_bytes, 12 * 1024);
  EXPECT_EQ(reading.read_bytes, 1000);
  EXPECT_EQ(reading.read_calls, 3);
  EXPECT_EQ(reading.disk_bytes, 4096);
}

TEST(SystemReader, KeepsWhatEndedThreadsHadWaited) {
  FakeMachine machine;
  machine.set("/proc/self/task/1/schedstat", "10 1000000000 5\n");
  machine.set("/proc/self/task/2/schedstat", "10 500000000 5\n");
  SystemReader reader(machine.root);
  EXPECT_DOUBLE_EQ(reader.sample().run_queue_wait_s, 1.5);
  std::filesystem::remove_all(machine.root + "/proc/self/task/2");
  EXPECT_DOUBLE_EQ(reader.sample().run_queue_wait_s, 1.5);
  machine.set("/proc/self/task/1/schedstat", "10 2000000000 5\n");
  EXPECT_DOUBLE_EQ(reader.sample().run_queue_wait_s, 2.5);
}

TEST(SystemReader, ReadsPressure) {
  FakeMachine machine;
  machine.set("/proc/pressure/io",
              "some avg10=0.49 avg60=0.93 avg300=0.56 total=2500000\n"
              "full avg10=0.37 avg60=0.88 avg300=0.54 total=1500000\n");
  const SystemReading reading = SystemReader(machine.root).sample();
  EXPECT_DOUBLE_EQ(reading.io_some_s, 2.5);
  EXPECT_DOUBLE_EQ(reading.io_full_s, 1.5);
  EXPECT_EQ(reading.memory_full_s, 0);
}

TEST(SystemReader, ReadsHowIdleTheMachineIs) {
  FakeMachine machine;
  machine.set("/proc/stat", "cpu  10 0 5 300 100 0 0 0 0 0\ncpu0 10 0 5 300 100\n");
  EXPECT_DOUBLE_EQ(SystemReader(machine.root).sample().idle_s,
                   400.0 / double(sysconf(_SC_CLK_TCK)));
}

TEST(SystemReader, CountsThrottlingInBothVersionsOfCgroups) {
  FakeMachine two;
  two.set("/proc/self/cgroup", "0::/jobs/mine\n");
  two.set("/sys/fs/cgroup/jobs/mine/cpu.stat", "usage_usec 5\nnr_periods 0\n");
  two.set("/sys/fs/cgroup/jobs/cpu.stat", "nr_periods 10\nnr_throttled 4\nthrottled_usec 500000\n");
  const SystemReading reading = SystemReader(two.root).sample();
  EXPECT_EQ(reading.quota_periods, 10);
  EXPECT_EQ(reading.throttled_count, 4);
  EXPECT_DOUBLE_EQ(reading.throttled_s, 0.5);
  FakeMachine one;
  one.set("/proc/self/cgroup", "4:cpu,cpuacct:/a\n");
  one.set("/sys/fs/cgroup/cpu/a/cpu.stat",
          "nr_periods 20\nnr_throttled 5\nthrottled_time 2000000000\n");
  EXPECT_DOUBLE_EQ(SystemReader(one.root).sample().throttled_s, 2);
}

TEST(SystemReader, KnowsWhatAnotherProcessMayStillTake) {
  FakeMachine machine;
  machine.set("/proc/meminfo", "MemAvailable: 4000 kB\n");
  machine.set("/proc/self/cgroup", "0::/mine\n");
  machine.set("/proc/7/cgroup", "0::/its\n");
  machine.set("/sys/fs/cgroup/its/memory.max", "3000000\n");
  machine.set("/sys/fs/cgroup/its/memory.current", "1000000\n");
  EXPECT_EQ(SystemReader(machine.root).sample().available_bytes, 4000 * 1024);
  EXPECT_EQ(SystemReader(machine.root, "7").sample().available_bytes, 2000000);
}

TEST(SystemReader, FindsThisProcessAlive) {
  SystemReader reader;
  EXPECT_GT(reader.sample().rss_bytes, 0);
  EXPECT_GE(reader.sample().threads, 1);
}

}  // namespace
}  // namespace headway
