#include <gtest/gtest.h>

#include "headway/doctor/simulate_looks.h"

namespace headway {
namespace {

// A Keras training whose steps wait for the next element of tf.data for the share `waits`, while
// the pipeline has this share of the hits on 2 cores.
Trace piped(double waits, double of_the_pipeline, NativeKind kind = NativeKind::kDecodes) {
  constexpr double kLooks = 360;
  SeenStack step = training(int64_t(kLooks * (1 - waits)));
  SeenStack waiting = training(int64_t(kLooks * waits));
  waiting.account = Account::kWaitsForData;
  Trace trace = watched({step, waiting});
  trace.run.cpus = trace.run.machine_cores = 2;
  Outside& seen = trace.outside;
  seen.framework = Framework::kKeras;
  seen.cores = 1.9;
  for (LedgerBlock& block : seen.ledger) block.cpu_s = 1.9;
  seen.native.takers_since_s = 1;
  seen.native.samples = seen.native.whole = 1000;
  seen.native.input_samples = int64_t(1000 * of_the_pipeline);
  if (kind == NativeKind::kDecodes) seen.native.decode_samples = seen.native.input_samples;
  seen.native.functions = {{.library = "libtensorflow_cc.so.2",
                            .function = "decode_mcu",
                            .kind = kind,
                            .input = true,
                            .samples = seen.native.input_samples}};
  return trace;
}

// The same, if the source has a map() that is not told to work in parallel.
Trace mapped(double waits, double of_the_pipeline) {
  Trace trace = piped(waits, of_the_pipeline);
  trace.outside.serial_map_at = users(12, "main", "ds = ds.map(load).batch(32)");
  return trace;
}

TEST(NativeInput, AMapThatMakesOneAfterTheOtherIsNamedByItsLine) {
  const auto findings = diagnose(mapped(0.6, 0.5));
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].id(), "serial-map");
  EXPECT_NE(findings[0].where.find("train.py:12"), std::string::npos);
}

TEST(NativeInput, AMapThatTensorFlowMakesParallelIsNotBlamed) {
  EXPECT_EQ(first_cause(mapped(0.6, 0.95)), "decode-saturated");
}

TEST(NativeInput, DecodersThatTakeAllCoresAreNamed) {
  EXPECT_EQ(first_cause(piped(0.6, 0.95)), "decode-saturated");
  EXPECT_EQ(first_cause(piped(0.6, 0.95, NativeKind::kOther)), "input-bound");
}

TEST(NativeInput, AMapIsNotBlamedWhereTheModelIsTheWork) {
  EXPECT_EQ(first_cause(mapped(0.05, 0.2)), "none");
}

// Without the pipeline the model gets its cores back: with an eighth of the time spent waiting and
// no core free, a pipeline that uses 0.8 of 2 cores costs half of the time.
TEST(NativeInput, APipelineThatTakesTheCoresFromTheModelIsNamed) {
  Trace trace = piped(0.12, 0.42);
  EXPECT_EQ(first_cause(trace), "input-bound");
  EXPECT_EQ(first_cause(mapped(0.12, 0.42)), "input-bound") << "more threads would find no core";
  for (LedgerBlock& block : trace.outside.ledger) block.cpu_s = 1.3;  // cores are free
  EXPECT_EQ(first_cause(trace), "none");
  // Nor if the model never waits: then the model is the limit.
  EXPECT_EQ(first_cause(piped(0.02, 0.42)), "none");
}

TEST(NativeInput, AnElementThatIsAskedForWhileTheDeviceIsBusyCostsNothing) {
  Trace trace = piped(0.6, 0.5);
  for (LedgerBlock& block : trace.outside.ledger)
    for (LedgerEntry& entry : block.entries) entry.device = DeviceState::kBusy;
  EXPECT_EQ(first_cause(trace), "none");
}

TEST(NativeInput, AMapIsNotBlamedForASlowDisk) {
  EXPECT_EQ(first_cause(mapped(0.6, 0.1)), "input-bound");
}

TEST(NativeInput, WithoutSamplesTheWaitIsStillSeen) {
  Trace trace = piped(0.6, 0);
  trace.outside.native.samples = trace.outside.native.whole = 0,
  trace.outside.native.functions.clear();
  EXPECT_EQ(first_cause(trace), "input-bound");
}

}  // namespace
}  // namespace headway
