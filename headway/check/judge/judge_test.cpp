#include "headway/check/judge/judge.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "headway/check/judge/example_machine.h"
#include "headway/check/report.h"

namespace headway {
namespace {

using namespace testing;

constexpr int64_t kMB = 1'000'000, kGB = 1'000'000'000;

// A machine with something of every kind, so that every page is named.
MachineFacts bad_machine() {
  MachineFacts facts = good_machine();
  facts.cores = {.online = 16, .allowed = 1, .usable = 0.5, .quota = true, .groups_seen = true};
  facts.cores.settings = {{"OMP_NUM_THREADS=64", {}, 64}};
  facts.memory.available_bytes = 500 * kMB, facts.memory.limit_bytes = 600 * kMB;
  facts.memory.shm_bytes = 64 * kMB, facts.memory.shm_free_bytes = 64 * kMB;
  facts.memory.open_files = 64;
  facts.disk.network = true, facts.disk.free_bytes = kMB;
  facts.speed->large_bytes_per_s = 1e6, facts.speed->small_reads_per_s = 10;
  facts.gpu.visible = "", facts.gpu.gpus[0].memory_used = facts.gpu.gpus[0].memory_bytes;
  facts.permissions = {.seen = true, .perf_refused = "allow it", .ptrace_scope = 1};
  return facts;
}

TEST(Check, AGoodMachineIsGoodInEveryLine) {
  const CheckLines lines = judge(good_machine());
  EXPECT_GE(lines.size(), 12u);
  for (const CheckLine& each : lines) EXPECT_EQ(each.fit, Fit::kGood) << each.found;
  EXPECT_TRUE(check_sentence(lines).starts_with("this machine fits")) << check_sentence(lines);
}

TEST(Check, WhatIsNotGoodSaysWhyAndWhatToDo) {
  const CheckLines lines = judge(bad_machine());
  EXPECT_GE(count_of(lines).wrong, 6);
  for (const CheckLine& each : lines) {
    EXPECT_FALSE(each.found.empty()) << each.id;
    if (each.fit == Fit::kGood) continue;
    EXPECT_FALSE(each.why.empty()) << each.found;
    EXPECT_FALSE(each.remedy.empty()) << each.found;
  }
}

TEST(Check, EveryPageThatIsNamedExists) {
  size_t named = 0;
  for (const CheckLine& each : judge(bad_machine())) {
    if (each.cause.empty()) continue;
    ++named;
    EXPECT_TRUE(std::filesystem::exists(std::string(CAUSES) + "/" + each.cause + ".md"))
        << each.cause;
  }
  EXPECT_GE(named, 8u);
}

TEST(Check, TheWorstOfATopicComesFirst) {
  const CheckLines lines = judge(bad_machine());
  for (size_t i = 1; i < lines.size(); ++i) {
    EXPECT_LE(lines[i - 1].topic, lines[i].topic);
    if (lines[i - 1].topic == lines[i].topic && lines[i].fit == Fit::kWrong) {
      EXPECT_EQ(lines[i - 1].fit, Fit::kWrong) << lines[i].found;
    }
  }
}

TEST(CheckCores, OneOfManyIsWrong) {
  MachineFacts facts = good_machine();
  facts.cores.allowed = 1, facts.cores.usable = 1;
  EXPECT_EQ(line_of(facts, "cores").cause, "single-core-affinity");
  EXPECT_EQ(fit_of(facts, "cores"), Fit::kWrong);
  facts.cores.online = 1;  // more there are not
  EXPECT_EQ(fit_of(facts, "cores"), Fit::kDoubtful);
}

TEST(CheckCores, AQuotaIsDoubtfulAndWrongBelowOneCore) {
  MachineFacts facts = good_machine();
  facts.cores.quota = true, facts.cores.usable = 3.5;
  EXPECT_EQ(fit_of(facts, "cpu-quota"), Fit::kDoubtful);
  EXPECT_TRUE(says(line_of(facts, "cpu-quota"), "OMP_NUM_THREADS=3"));
  facts.cores.usable = 0.6;
  EXPECT_EQ(fit_of(facts, "cpu-quota"), Fit::kWrong);
}

TEST(CheckCores, SettingsOfThreadsMustFitTheCores) {
  MachineFacts facts = good_machine();
  const auto with = [&](const char* text, int64_t threads) {
    facts.cores.settings = {{text, {}, threads}};
    return fit_of(facts, "threads");
  };
  EXPECT_EQ(with("OMP_NUM_THREADS=16", 16), Fit::kGood);
  EXPECT_EQ(with("OMP_NUM_THREADS=24", 24), Fit::kDoubtful);
  EXPECT_EQ(with("OMP_NUM_THREADS=64", 64), Fit::kWrong);
  EXPECT_EQ(with("OMP_NUM_THREADS=1", 1), Fit::kDoubtful);
  EXPECT_EQ(with("TF_NUM_INTEROP_THREADS=1", 1), Fit::kGood);
  facts.cores.settings.clear(), facts.cores.invalid = {{"OMP_NUM_THREADS", "many"}};
  EXPECT_EQ(fit_of(facts, "threads"), Fit::kDoubtful);
}

TEST(CheckMemory, ItsLimitIsThatOfTheGroup) {
  MachineFacts facts = good_machine();
  facts.memory.limit_bytes = 800 * kMB, facts.memory.available_bytes = 700 * kMB;
  EXPECT_EQ(fit_of(facts, "memory"), Fit::kWrong);
  EXPECT_EQ(line_of(facts, "memory").cause, "memory-limit");
  facts.memory.limit_bytes = 0;
  EXPECT_EQ(line_of(facts, "memory").cause, "host-memory-pressure");
}

TEST(CheckMemory, ASmallDevShmIsWrongWherePyTorchIs) {
  MachineFacts facts = good_machine();
  facts.memory.shm_bytes = facts.memory.shm_free_bytes = 64 * kMB;
  EXPECT_EQ(fit_of(facts, "shared-memory"), Fit::kWrong);
  facts.python.frameworks.clear();
  EXPECT_EQ(fit_of(facts, "shared-memory"), Fit::kDoubtful);
  facts.memory.shm_bytes.reset();
  EXPECT_EQ(fit_of(facts, "shared-memory"), Fit::kDoubtful);
}

TEST(CheckMemory, AFullDevShmIsNotASmallOne) {
  MachineFacts facts = good_machine();
  facts.memory.shm_free_bytes = kMB;
  EXPECT_TRUE(says(line_of(facts, "shared-memory"), "see what fills it"));
}

TEST(CheckLimits, FewDescriptorsAreWrongAndSomeAreDoubtful) {
  MachineFacts facts = good_machine();
  facts.memory.open_files = 64;
  EXPECT_EQ(fit_of(facts, "open-files"), Fit::kWrong);
  EXPECT_TRUE(says(line_of(facts, "open-files"), "ulimit -n 65536"));
  facts.memory.open_files_hard = 64;
  EXPECT_TRUE(says(line_of(facts, "open-files"), "hard limit"));
  facts.memory.open_files = 512;
  EXPECT_EQ(fit_of(facts, "open-files"), Fit::kDoubtful);
}

TEST(CheckLimits, AddressesAreNotMemory) {
  MachineFacts facts = good_machine();
  facts.memory.address_bytes = 32 * kGB;
  EXPECT_EQ(fit_of(facts, "addresses"), Fit::kWrong);  // CUDA takes more
  facts.gpu = {};
  EXPECT_EQ(fit_of(facts, "addresses"), Fit::kDoubtful);
  facts.memory.processes = 100;
  EXPECT_EQ(fit_of(facts, "processes"), Fit::kDoubtful);
}

TEST(CheckDisk, DataThatAreNotThereAreWrong) {
  MachineFacts facts = good_machine();
  facts.disk = {.path = "nowhere"};
  EXPECT_EQ(fit_of(facts, "data"), Fit::kWrong);
  facts.disk = {.path = "secret", .there = true, .trouble = "Permission denied"};
  EXPECT_EQ(fit_of(facts, "data"), Fit::kNotSeen);
}

TEST(CheckDisk, AFullDiskAndOneWithoutInodesAreWrong) {
  MachineFacts facts = good_machine();
  facts.disk.free_bytes = 10 * kMB;
  EXPECT_EQ(fit_of(facts, "disk-space"), Fit::kWrong);
  facts.disk.free_bytes = 900 * kGB, facts.disk.free_inodes = 0;
  EXPECT_EQ(fit_of(facts, "disk-space"), Fit::kWrong);
}

TEST(CheckDisk, AMeasurementThroughTheCacheSaysNothingGood) {
  MachineFacts facts = good_machine();
  facts.speed->past_cache = false;
  EXPECT_EQ(fit_of(facts, "disk-large-reads"), Fit::kNotSeen);
  facts.speed->large_bytes_per_s = 1e6;  // slow even so
  EXPECT_EQ(fit_of(facts, "disk-large-reads"), Fit::kDoubtful);
  facts.speed = {.trouble = "no file in it could be read"};
  EXPECT_EQ(fit_of(facts, "disk-speed"), Fit::kNotSeen);
}

TEST(CheckDisk, ShortReadsThatTravelAreDoubtful) {
  MachineFacts facts = good_machine();
  facts.disk.network = true, facts.speed->small_reads_per_s = 50;
  EXPECT_EQ(fit_of(facts, "network-disk"), Fit::kDoubtful);
  EXPECT_EQ(line_of(facts, "disk-small-reads").cause, "network-storage");
}

TEST(Check, WhatCannotBeReadIsNotTakenForGood) {
  MachineFacts facts = good_machine();
  facts.permissions.seen = facts.cores.groups_seen = false;
  facts.memory.total_bytes = 0;
  for (const char* id : {"ptrace", "cpu-quota", "memory"})
    EXPECT_EQ(fit_of(facts, id), Fit::kNotSeen) << id;
}

TEST(CheckPermissions, WhatWatchingNeeds) {
  MachineFacts facts = good_machine();
  facts.permissions = {.seen = true, .perf_refused = "sysctl ...", .ptrace_scope = 2};
  EXPECT_EQ(fit_of(facts, "perf"), Fit::kDoubtful);
  EXPECT_EQ(fit_of(facts, "ptrace"), Fit::kDoubtful);
  facts.permissions.may_ptrace = true;
  EXPECT_EQ(fit_of(facts, "ptrace"), Fit::kGood);
}

}  // namespace
}  // namespace headway
