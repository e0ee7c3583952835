#include "headway/core/limits.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include "headway/core/fake_machine.h"

namespace headway {
namespace {

// With some memory.
struct Machine : testing::FakeMachine {
  Machine() { set("/proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    4000 kB\n"); }
  Limits limits(const std::string& process = "self") const { return read_limits(root, process); }
};

int cores() {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  return CPU_COUNT(&set);
}

TEST(Limits, WithoutCgroupsAreTheMachines) {
  const Machine machine;
  EXPECT_EQ(machine.limits().cpus, cores());
  EXPECT_EQ(machine.limits().memory_bytes, 4000 * 1024);
}

TEST(Limits, TakeTheTightestQuotaOfAllAncestorsInV2) {
  Machine machine;
  machine.set("/proc/self/cgroup", "0::/jobs/mine\n");
  machine.set("/sys/fs/cgroup/jobs/cpu.max", "50000 100000\n");
  machine.set("/sys/fs/cgroup/jobs/mine/cpu.max", "max 100000\n");
  machine.set("/sys/fs/cgroup/jobs/mine/memory.max", "3000000\n");
  machine.set("/sys/fs/cgroup/jobs/mine/memory.current", "1000000\n");
  EXPECT_DOUBLE_EQ(machine.limits().cpus, 0.5);
  EXPECT_EQ(machine.limits().memory_bytes, 2000000);
  machine.set("/sys/fs/cgroup/jobs/mine/memory.stat", "anon 1\ninactive_file 600000\n");
  EXPECT_EQ(machine.limits().memory_bytes, 2600000);
  EXPECT_NE(machine.limits().cpu_source.find("cgroup quota 0.5"), std::string::npos);
}

TEST(Limits, OfAnotherProcessAreThoseOfItsGroup) {
  Machine machine;
  machine.set("/proc/self/cgroup", "0::/mine\n");
  const std::string other = std::to_string(::getppid());
  machine.set("/proc/" + other + "/cgroup", "0::/its\n");
  machine.set("/sys/fs/cgroup/its/cpu.max", "50000 100000\n");
  EXPECT_EQ(machine.limits().cpus, cores());
  EXPECT_DOUBLE_EQ(machine.limits(other).cpus, 0.5);
}

TEST(Limits, KnowVersionOne) {
  Machine machine;
  machine.set("/proc/self/cgroup", "4:cpu,cpuacct:/a\n5:memory:/a\n");
  machine.set("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "20000\n");
  machine.set("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
  machine.set("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
  machine.set("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "1\n");
  EXPECT_DOUBLE_EQ(machine.limits().cpus, 0.2);
  EXPECT_EQ(machine.limits().memory_bytes, 4000 * 1024);
}

}  // namespace
}  // namespace headway
