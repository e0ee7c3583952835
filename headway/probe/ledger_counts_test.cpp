#include "headway/probe/ledger_counts.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

int64_t looks_in(const LedgerBlock& block, Account account) {
  int64_t looks = 0;
  for (const LedgerEntry& entry : block.entries)
    if (entry.account == account) looks += entry.looks;
  return looks;
}

TEST(LedgerCounts, TwoReadingsMakeABlockOfASecond) {
  LedgerCounts ledger;
  ledger.read(0, {.cpu_s = 100, .idle_s = 7}, 0);
  for (int half = 1; half <= 4; ++half) {
    ledger.look(Account::kComputes, DeviceState::kNone);
    ledger.look(half > 2 ? Account::kWaitsForData : Account::kComputes, DeviceState::kNone);
    ledger.read(0.5 * half, {.cpu_s = 100 + 0.4 * half, .idle_s = 7 + 0.1 * half}, 10 * half);
  }
  const auto blocks = ledger.blocks();
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_DOUBLE_EQ(blocks[0].seconds, 1);
  EXPECT_EQ(blocks[0].steps, 20);
  EXPECT_EQ(looks_in(blocks[0], Account::kComputes), 4);
  EXPECT_NEAR(blocks[1].cpu_s, 0.8, 1e-9);
  EXPECT_NEAR(blocks[1].idle_s, 0.2, 1e-9);
  EXPECT_EQ(looks_in(blocks[1], Account::kWaitsForData), 2);
}

TEST(LedgerCounts, TheTimeBetweenTwoLooksBelongsToBoth) {
  LedgerCounts ledger;
  ledger.read(0, {}, 0);
  ledger.look(Account::kComputes, DeviceState::kNone, 0.1);
  ledger.look(Account::kCompiles, DeviceState::kNone, 0.2);
  ledger.look(Account::kComputes, DeviceState::kNone, 0.8);  // such a look was expensive
  ledger.read(1, {}, 1);
  const auto blocks = ledger.blocks();
  ASSERT_EQ(blocks.size(), 1u);
  ASSERT_EQ(blocks[0].entries.size(), 2u);
  EXPECT_EQ(blocks[0].entries[0].account, Account::kComputes);
  EXPECT_NEAR(blocks[0].entries[0].seconds, 0.35, 1e-9);
  EXPECT_NEAR(blocks[0].entries[1].seconds, 0.35, 1e-9);
  EXPECT_EQ(blocks[0].entries[1].looks, 1);
}

TEST(LedgerCounts, ABlockIsBeforeTrainingOrInIt) {
  LedgerCounts ledger;
  ledger.read(0, {}, 0);
  ledger.look(Account::kPrepares, DeviceState::kNone);
  ledger.cut(0.1, 0, true);
  ledger.look(Account::kComputes, DeviceState::kNone);
  ledger.read(0.5, {.cpu_s = 0.5}, 3);
  const auto blocks = ledger.blocks();
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_FALSE(blocks[0].training);
  EXPECT_EQ(looks_in(blocks[0], Account::kComputes), 0);
  EXPECT_NEAR(blocks[0].cpu_s, 0.1, 1e-9);
  EXPECT_TRUE(blocks[1].training);
  EXPECT_DOUBLE_EQ(blocks[1].at_s, 0.1);
  EXPECT_EQ(blocks[1].steps, 3);
  EXPECT_NEAR(blocks[1].cpu_s, 0.4, 1e-9);
}

TEST(LedgerCounts, ALongWatchHasLongerBlocksAndLosesNothing) {
  LedgerCounts ledger;
  constexpr int kHalves = 4000;
  ledger.read(0, {}, 0);
  for (int half = 1; half <= kHalves; ++half) {
    if (half == 101) ledger.cut(50, 100, true);
    ledger.look(Account::kComputes, DeviceState::kBusy);
    ledger.read(0.5 * half, {.main_cpu_s = 0.5 * half}, half);
  }
  double seconds = 0, main_cpu_s = 0, end_s = 0;
  int64_t looks = 0, steps = 0;
  for (const LedgerBlock& block : ledger.blocks()) {
    EXPECT_DOUBLE_EQ(block.at_s, end_s);
    EXPECT_EQ(block.training, block.at_s >= 50);
    end_s = block.at_s + block.seconds;
    seconds += block.seconds, main_cpu_s += block.main_cpu_s;
    looks += looks_in(block, Account::kComputes), steps += block.steps;
  }
  EXPECT_LE(ledger.blocks().size(), 240u);
  EXPECT_GE(ledger.blocks().size(), 100u);
  EXPECT_DOUBLE_EQ(seconds, 0.5 * kHalves);
  EXPECT_NEAR(main_cpu_s, 0.5 * kHalves, 1e-6);
  EXPECT_EQ(looks, kHalves);
  EXPECT_EQ(steps, kHalves);
}

TEST(LedgerCounts, ACounterThatFallsTakesNothingAway) {
  LedgerCounts ledger;
  ledger.read(0, {.cpu_s = 50}, 9);
  ledger.look(Account::kUnknown, DeviceState::kNone);
  ledger.read(1, {.cpu_s = 20}, 3);
  ASSERT_EQ(ledger.blocks().size(), 1u);
  EXPECT_EQ(ledger.blocks()[0].cpu_s, 0);
  EXPECT_EQ(ledger.blocks()[0].steps, 9);
}

TEST(LedgerCounts, ADeviceThatIsBusyInPartIsIdleWhileTheThreadDoesSomethingElse) {
  EXPECT_EQ(device_state(0.97, Account::kWaitsForData), DeviceState::kBusy);
  EXPECT_EQ(device_state(0.05, Account::kWaitsForDevice), DeviceState::kIdle);
  EXPECT_EQ(device_state(0.5, Account::kWaitsForData), DeviceState::kIdle);
  EXPECT_EQ(device_state(0.5, Account::kWaitsForDevice), DeviceState::kBusy);
}

}  // namespace
}  // namespace headway
