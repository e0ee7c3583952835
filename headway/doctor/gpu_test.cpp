#include <gtest/gtest.h>

#include "headway/doctor/simulate_looks.h"

namespace headway {
namespace {

constexpr double kLooks = 360;

SeenStack of_main(Activity activity, Account account, double share) {
  SeenStack seen =
      stack(activity, Wait::kNothing, {users(12, "train", "one line")}, int64_t(kLooks * share));
  seen.account = account;
  return seen;
}

// A run whose GPU is busy for this share of the time, while the training thread has these stacks.
Trace on_a_gpu(GpuWork work, std::vector<SeenStack> stacks) {
  Trace trace = watched(std::move(stacks));
  work.seconds = 15;
  trace.outside.gpus = {{.name = "H200",
                         .memory_bytes = 139'000'000'000,
                         .utilisation = work.busy,
                         .recent = work.busy,
                         .used = true,
                         .work = work}};
  for (LedgerBlock& block : trace.outside.ledger)
    for (LedgerEntry& entry : block.entries)
      entry.device = work.busy < 0.5 ? DeviceState::kIdle : DeviceState::kBusy;
  return trace;
}

Trace that_uploads(double busy, double share, double received_bps) {
  return on_a_gpu({.busy = busy, .received_bps = received_bps},
                  {of_main(Activity::kUpload, Account::kLaunches, share),
                   training(int64_t(kLooks * (1 - share)))});
}

Trace that_reads(double busy, double share) {
  return on_a_gpu({.busy = busy}, {of_main(Activity::kSync, Account::kWaitsForDevice, share),
                                   training(int64_t(kLooks * (1 - share)))});
}

Trace that_only_steps(GpuWork work) { return on_a_gpu(work, {training(int64_t(kLooks))}); }

TEST(Gpu, CopiesThatHoldTheTrainingUpAreNamedByTheirLine) {
  const auto findings = diagnose(that_uploads(0.5, 0.5, 5e9));
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].id(), "upload-bound");
  EXPECT_NE(findings[0].where.find("train.py:12"), std::string::npos);
}

TEST(Gpu, CopiesBesideABusyGpuAreNoFault) {
  EXPECT_EQ(first_cause(that_uploads(0.95, 0.5, 5e9)), "none");
}

TEST(Gpu, ALineThatMovesFewBytesIsNotBlamedForUploads) {
  EXPECT_NE(first_cause(that_uploads(0.5, 0.5, 1e6)), "upload-bound");
}

TEST(Gpu, ValuesReadBackInEveryStepAreNamedByTheirLine) {
  const auto findings = diagnose(that_reads(0.4, 0.5));
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].id(), "sync-every-step");
  EXPECT_NE(findings[0].where.find("train.py:12"), std::string::npos);
}

TEST(Gpu, WaitingForABusyGpuIsNoFault) { EXPECT_EQ(first_cause(that_reads(0.9, 0.8)), "none"); }

TEST(Gpu, ThatWaitsForOrdersIsLaunchBound) {
  EXPECT_EQ(first_cause(that_only_steps({.busy = 0.25, .sms = 0.1})), "launch-bound");
}

TEST(Gpu, WithTheBatchWrittenInTheSourceTheBatchIsToBlame) {
  Trace small = that_only_steps({.busy = 0.25, .sms = 0.1});
  small.outside.batch_size = 8;
  EXPECT_EQ(first_cause(small), "batch-too-small");
  small.outside.batch_size = 256;
  EXPECT_EQ(first_cause(small), "launch-bound");
}

TEST(Gpu, InFloat32ItsUnitsForProductsIdle) {
  EXPECT_EQ(first_cause(that_only_steps({.busy = 0.99, .sms = 0.9, .tensor = 0.001, .fp32 = 0.7})),
            "no-mixed-precision");
  EXPECT_EQ(first_cause(that_only_steps({.busy = 0.99, .sms = 0.9, .tensor = 0.5, .fp32 = 0.2})),
            "none");
}

TEST(Gpu, InFloat64ItIsSlowerStill) {
  const auto findings =
      diagnose(that_only_steps({.busy = 0.99, .sms = 0.9, .tensor = 0.01, .fp64 = 0.4}));
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].id(), "no-mixed-precision");
  EXPECT_NE(findings[0].summary.find("float64"), std::string::npos);
}

TEST(Gpu, ThatWasOpenedAndDoesNothingIsNotUsed) {
  EXPECT_EQ(first_cause(that_only_steps({.busy = 0.001})), "gpu-not-used");
}

// Readings of the watcher every half second: bytes in use, as a function of the time.
template <typename F>
Trace with_memory(F&& bytes) {
  Trace trace = that_only_steps({.busy = 0.95, .tensor = 0.5});
  for (double at = 1; at < 20; at += 0.5) {
    TraceReading& sample = trace.samples.emplace_back();
    sample.at_s = at;
    sample.gpu.memory_bytes = 139'000'000'000, sample.gpu.memory_used = int64_t(bytes(at));
  }
  return trace;
}

TEST(Gpu, MemoryThatFillsStepAfterStepIsALeak) {
  EXPECT_EQ(first_cause(with_memory([](double at) { return 2e9 + 4e8 * at; })), "host-memory-leak");
}

TEST(Gpu, MemoryThatSettlesIsNoLeak) {
  EXPECT_EQ(first_cause(with_memory([](double at) { return 2e9 + 4e8 * std::min(at, 8.0); })),
            "none");
}

}  // namespace
}  // namespace headway
