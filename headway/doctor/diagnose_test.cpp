#include "headway/doctor/diagnose.h"

#include <gtest/gtest.h>

#include "headway/doctor/evidence.h"
#include "headway/doctor/simulate.h"

namespace headway {
namespace {

using namespace headway::testing;

// The causes of severity warning or worse, most important first.
std::string causes(const Simulation& s) {
  std::string text;
  for (const Finding& f : diagnose(simulate(s))) {
    if (f.severity >= Severity::kWarning) text += (text.empty() ? "" : " ") + f.id();
  }
  return text;
}

Finding worst(const Simulation& s) {
  const auto findings = diagnose(simulate(s));
  return findings.empty() ? Finding{} : findings[0];
}

TEST(Doctor, HasNothingToSayAboutAComputeBoundRun) {
  EXPECT_EQ(causes({}), "");
  const Trace trace = simulate({.ended = false});
  EXPECT_EQ(verdict(trace, diagnose(trace)).sentence,
            "healthy: compute-bound, 40 ms per step; epoch 1 ends in 6 min 10 s");
}

TEST(Doctor, AbstainsWhenThereIsTooLittle) {
  EXPECT_EQ(causes({.seconds = 2, .serial_ms = 400, .dataset = kSerial}), "");
  EXPECT_EQ(causes({.seconds = 0}), "");
  EXPECT_TRUE(diagnose(Trace{}).empty());
}

TEST(Doctor, BlamesTheSerialMapWhenOneWorkerMakesEverything) {
  const Simulation slow{.op_ms = 1, .serial_ms = 100, .dataset = kSerial, .serial_blocks = true};
  EXPECT_EQ(causes(slow), "serial-map");
  EXPECT_EQ(worst(slow).where, "slow(serial)");
  EXPECT_EQ(causes({.op_ms = 1, .serial_ms = 30, .dataset = kSerial}), "");
}

TEST(Doctor, PredictsWhatParallelCallsWillGain) {
  const Simulation slow{.op_ms = 1, .serial_ms = 100, .dataset = kSerial};
  Simulation repaired = slow;
  repaired.op_ms = 101;
  repaired.serial_ms = 0;
  const double before = Evidence(simulate(slow)).step_s();
  const double after = Evidence(simulate(repaired)).step_s();
  EXPECT_NEAR(*worst(slow).predicted_gain, before / after, 0.25 * before / after);
}

TEST(Doctor, BlamesASingleWorkerWhileCoresAreIdle) {
  EXPECT_EQ(causes({.op = {.name = "augment"}, .op_ms = 100, .feed_threads = 1, .op_blocks = true}),
            "serial-map");
}

TEST(Doctor, BlamesTheNumberOfWorkersOnlyIfItWasAskedForAndTheyCompute) {
  Simulation few{.op_ms = 200, .input_threads = 2, .cpus = 16, .compute_threads = 1};
  EXPECT_EQ(causes(few), "dataloader-workers");
  EXPECT_EQ(worst(few).where, "2 input threads");
  EXPECT_NEAR(*worst(few).predicted_gain, 100.0 / 40, 0.1);  // then training is the limit
  few.input_threads = 0;
  EXPECT_EQ(causes(few), "input-bound");
  EXPECT_EQ(worst(few).fix.find("that function waits"), std::string::npos) << worst(few).fix;
  few.input_threads = few.feed_threads = 12;  // with a GPU Headway would start no more than that
  few.op_ms = 1200;
  few.device = "cuda:0";
  EXPECT_NE(causes(few), "dataloader-workers");
  EXPECT_EQ(causes({.op_ms = 200, .input_threads = 2, .op_blocks = true, .cpus = 16}),
            "slow-storage");
}

TEST(Doctor, BlamesTheLaunchesWhenNothingElseKeepsTheGpuWaiting) {
  Simulation idle{.cpus = 16,
                  .compute_threads = 1,
                  .device = "cuda:0",
                  .gpu_busy = 0.4,
                  .products = ProductType::kFloat32};
  EXPECT_EQ(causes(idle), "launch-bound");
  EXPECT_EQ(*worst(idle).predicted_gain, 2);  // from a batch twice as large
  idle.cpus = 0.6;                            // the thread that gives orders has no core
  EXPECT_EQ(causes(idle), "");
  idle.cpus = 16;
  idle.gpu_busy = 0.8;
  EXPECT_EQ(causes(idle), "");
  idle.gpu_busy = 0.4;
  idle.op_ms = 200;  // it waits for data
  EXPECT_EQ(causes(idle), "input-bound");
  idle.op_ms = 10;
  idle.validation_ms = 40;
  EXPECT_EQ(causes(idle), "hidden-validation");
}

TEST(Doctor, AdvisesALargerBatchOnlyAsFarAsTheProbeAllows) {
  Trace trace = simulate({.cpus = 16,
                          .compute_threads = 1,
                          .device = "cuda:0",
                          .gpu_busy = 0.4,
                          .products = ProductType::kFloat32});
  trace.replay = {.batch_size = 32, .step_s = 0.040, .double_step_s = 0.064};
  ASSERT_EQ(diagnose(trace).size(), 1u);
  EXPECT_NEAR(*diagnose(trace)[0].predicted_gain, 1.25, 0.01);
  trace.replay.double_step_s = 0.079;  // nothing to gain
  EXPECT_TRUE(diagnose(trace).empty());
  trace.replay.double_step_s = 0;  // refused
  EXPECT_TRUE(diagnose(trace).empty());
}

TEST(Doctor, NotesFloat32OnAGpuThatIsAlwaysBusy) {
  Simulation full{.device = "cuda:0", .gpu_busy = 0.97, .products = ProductType::kFloat32};
  EXPECT_EQ(causes(full), "");
  EXPECT_EQ(worst(full).cause, Cause::kNoMixedPrecision);
  full.products = ProductType::kBFloat16;
  EXPECT_EQ(worst(full).cause, Cause::kUnknown);
}

TEST(Doctor, BlamesDecodeWhenEveryCoreDecodes) {
  const Simulation slow{.op_ms = 200, .compute_cores = 0.1};
  EXPECT_EQ(causes(slow), "decode-saturated");
  EXPECT_GT(*worst(slow).predicted_gain, 2);
  EXPECT_EQ(causes({.op_ms = 60, .compute_cores = 0.1}), "");
}

TEST(Doctor, BlamesTheUsersFunctionByItsName) {
  EXPECT_EQ(causes({.op = {.name = "augment"}, .op_ms = 200}), "input-bound");
  EXPECT_EQ(worst({.op = {.name = "augment"}, .op_ms = 200}).where,
            "augment in stage augment+batch");
}

TEST(Doctor, BlamesStorageWhenWorkersReadAndCoresAreIdle) {
  EXPECT_EQ(causes({.op = kParse, .op_ms = 200, .dataset = kRecords, .op_blocks = true}),
            "slow-storage");
  EXPECT_EQ(causes({.op_ms = 200, .op_blocks = true, .bytes_per_sample = 5e3}), "many-small-files");
}

TEST(Doctor, NotesALittleWaitingWithoutAWarning) {
  EXPECT_EQ(causes({.op_ms = 86, .compute_cores = 0.1}), "");
  EXPECT_EQ(worst({.op_ms = 86, .compute_cores = 0.1}).severity, Severity::kInfo);
}

TEST(Doctor, TellsASourceThatNeverYieldsFromOneThatIsBlocked) {
  Simulation mute{
      .stuck_from_s = 0, .stuck_phase = RunPhase::kFirstBatch, .stuck_cores = 0.9, .ended = false};
  EXPECT_EQ(causes(mute), "source-never-yields");
  const Trace trace = simulate(mute);
  EXPECT_EQ(verdict(trace, diagnose(trace)).state, State::kStuck);
  mute.stuck_cores = 0.001;
  EXPECT_EQ(causes(mute), "worker-deadlock");
  mute.seconds = 8;
  EXPECT_EQ(causes(mute), "");
}

TEST(Doctor, FindsAFilterThatDropsAll) {
  EXPECT_EQ(causes({.stuck_from_s = 0,
                    .stuck_phase = RunPhase::kFirstBatch,
                    .stuck_cores = 0.9,
                    .feed_goes_on = true,
                    .ended = false,
                    .change = [](TraceReading& s) { s.stages[0].dropped = s.stages[0].in; }}),
            "source-never-yields");
}

TEST(Doctor, StandsStagesThatTheTraceNeverNamed) {
  Trace trace = simulate({.stuck_from_s = 0,
                          .stuck_phase = RunPhase::kFirstBatch,
                          .stuck_cores = 0.9,
                          .feed_goes_on = true,
                          .ended = false});
  trace.stages.clear();
  const std::vector<Finding> findings = diagnose(trace);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].where, "");
}

TEST(Doctor, SeesAShuffleBufferFill) {
  EXPECT_EQ(causes({.dataset = kBuffered,
                    .stuck_from_s = 0,
                    .stuck_phase = RunPhase::kFirstBatch,
                    .stuck_cores = 0.9,
                    .feed_goes_on = true,
                    .ended = false}),
            "shuffle-fill");
}

TEST(Doctor, FindsWorkersThatStandStillInTheMiddle) {
  Simulation s{.stuck_from_s = 15, .ended = false};
  EXPECT_EQ(causes(s), "worker-deadlock");
  s.seconds = 20;
  EXPECT_EQ(causes(s), "");
}

TEST(Doctor, FindsTheCpuQuotaBehindAStarvedRun) {
  const auto throttle = [](double share) {
    return [share](TraceReading& s) {
      s.system.quota_periods = static_cast<int64_t>(10 * s.at_s);
      s.system.throttled_count = static_cast<int64_t>(10 * s.at_s * share);
    };
  };
  EXPECT_EQ(causes({.op_ms = 200, .change = throttle(0.6)}), "cpu-quota decode-saturated");
  EXPECT_EQ(causes({.change = throttle(0.05)}), "");
}

TEST(Doctor, TellsTooManyThreadsFromANoisyNeighbour) {
  const auto crowd = [](TraceReading& s) {
    s.system.cpu_s = 1.9 * s.at_s;
    s.system.run_queue_wait_s = 6 * s.at_s;
  };
  EXPECT_EQ(causes({.compute_threads = 16, .change = crowd}), "thread-oversubscription");
  EXPECT_EQ(causes({.compute_threads = 2, .change = crowd}), "");
  EXPECT_EQ(causes({.op = {.name = "fetch"},
                    .op_ms = 4000,
                    .feed_threads = 128,
                    .op_blocks = true,
                    .change = crowd}),
            "");
}

TEST(Doctor, FindsMemoryPressureButNotAMappedFile) {
  const auto faults = [](double full) {
    return [full](TraceReading& s) {
      s.system.major_faults = static_cast<int64_t>(500 * s.at_s);
      s.system.memory_full_s = full * s.at_s;
    };
  };
  EXPECT_EQ(causes({.change = faults(0.3)}), "host-memory-pressure");
  EXPECT_EQ(causes({.change = faults(0)}), "");
}

TEST(Doctor, FindsAFullMemory) {
  EXPECT_EQ(causes({.change = [](TraceReading& s) { s.system.available_bytes = 9'000'000; }}),
            "memory-limit");
}

TEST(Doctor, FindsALeakButNotACache) {
  const auto leak = [](TraceReading& s) { s.system.rss_bytes += 400'000 * s.steps; };
  EXPECT_EQ(causes({.change = leak}), "host-memory-leak");
  EXPECT_EQ(causes({.dataset = kCached, .change = leak}), "");
  const auto settles = [](TraceReading& s) {
    s.system.rss_bytes += 300'000'000 * std::min<int64_t>(1, s.steps / 100);
  };
  EXPECT_EQ(causes({.change = settles}), "");
}

TEST(Doctor, FindsASlowCallbackAndNotAQuickOne) {
  EXPECT_EQ(causes({.callback_ms = 20}), "slow-callback");
  EXPECT_NEAR(*worst({.callback_ms = 20}).predicted_gain, 1.5, 0.1);
  EXPECT_EQ(causes({.callback_ms = 1}), "");
  EXPECT_EQ(causes({.checkpoint_ms = 30}), "slow-callback");
  EXPECT_EQ(worst({.checkpoint_ms = 30}).where, "checkpoint");
  EXPECT_EQ(causes({.checkpoint_ms = 1}), "");
}

TEST(Doctor, FindsACallbackThatDoesNotComeBack) {
  EXPECT_EQ(causes({.stuck_from_s = 10, .stuck_phase = RunPhase::kCallbacks, .ended = false}),
            "slow-callback");
}

TEST(Doctor, FindsABatchThatIsTooSmall) {
  EXPECT_EQ(causes({.batch = 1, .own_ms = 4, .optimizer_ms = 2, .op_ms = 1}), "batch-too-small");
  EXPECT_EQ(causes({.batch = 1, .own_ms = 400, .optimizer_ms = 2, .op_ms = 1}), "");
  EXPECT_EQ(causes({.batch = 64, .own_ms = 4, .optimizer_ms = 2, .op_ms = 1}), "");
}

TEST(Doctor, CallsALongFirstStepHealthy) {
  Trace trace = simulate({});
  trace.phases.push_back({RunPhase::kFirstStep, 1, 45});
  EXPECT_EQ(diagnose(trace).at(0).cause, Cause::kFirstStepCompiling);
  EXPECT_EQ(diagnose(trace).at(0).severity, Severity::kInfo);
  EXPECT_EQ(verdict(trace, diagnose(trace)).state, State::kHealthy);
}

TEST(Doctor, FindsStepsThatBecomeSlower) {
  EXPECT_EQ(causes({.seconds = 60, .growth_ms = 0.1}), "step-time-grows");
  EXPECT_EQ(causes({.seconds = 60, .growth_ms = 0.001}), "");
}

TEST(Doctor, FindsALongValidation) {
  EXPECT_EQ(causes({.validation_ms = 60}), "hidden-validation");
  EXPECT_EQ(causes({.validation_ms = 10}), "");
  const Simulation s{
      .stuck_from_s = 15, .stuck_phase = RunPhase::kValidation, .stuck_cores = 2, .ended = false};
  EXPECT_EQ(worst(s).cause, Cause::kHiddenValidation);
  EXPECT_EQ(worst(s).severity, Severity::kInfo);
  EXPECT_EQ(verdict(simulate(s), diagnose(simulate(s))).state, State::kHealthy);
}

TEST(Doctor, SaysWhenAnEpochHasNoEnd) {
  Trace trace = simulate({.seconds = 200, .ended = false});
  trace.run.steps_per_epoch = -1;
  EXPECT_EQ(diagnose(trace).at(0).cause, Cause::kEpochNeverEnds);
  trace.samples.back().step_in_epoch = 500;
  EXPECT_TRUE(diagnose(trace).empty());
}

TEST(Doctor, FindsALearningRateThatIsTooHigh) {
  EXPECT_EQ(causes({.loss_at_end = 50, .learning_rate = 1}), "learning-rate");
  EXPECT_EQ(causes({.loss_at_end = 2.5}), "");
  EXPECT_EQ(causes({.loss_at_end = 50, .bad_from_step = 600}), "learning-rate nan-loss");
}

TEST(Doctor, FindsALossThatIsNotANumber) { EXPECT_EQ(causes({.bad_from_step = 1}), "nan-loss"); }

TEST(Doctor, FindsALossThatDoesNotMove) {
  EXPECT_EQ(causes({.loss_at_end = 2.299, .learning_rate = 1e-7}), "learning-rate");
  EXPECT_EQ(causes({.loss_at_end = 2.3}), "loss-frozen");
  EXPECT_EQ(causes({.loss_at_end = 2.3, .learning_rate = 0}), "weights-not-updated");
  EXPECT_EQ(causes({.seconds = 8, .loss_at_end = 2.3}), "");
  EXPECT_EQ(causes({.batch = 1, .loss_at_end = 2.3}), "") << "as many steps, but few samples";
}

TEST(Doctor, FindsOneThreadBesideIdleCores) {
  EXPECT_EQ(causes({.cpus = 8, .compute_threads = 1}), "single-core-affinity");
  EXPECT_EQ(causes({.own_ms = 2, .optimizer_ms = 0.2, .op_ms = 1, .cpus = 8, .compute_threads = 1}),
            "");
}

TEST(Doctor, FindsABusyUpload) {
  const auto upload = [](double share) {
    return [share](TraceReading& s) {
      s.times.seconds[static_cast<size_t>(StepPhase::kUpload)] = share * s.times.total();
    };
  };
  Trace trace = simulate({.change = upload(0.4)});
  trace.run.device = "cuda";
  EXPECT_EQ(diagnose(trace).at(0).cause, Cause::kUploadBound);
  trace = simulate({.change = upload(0.02)});
  trace.run.device = "cuda";
  EXPECT_TRUE(diagnose(trace).empty());
}

TEST(Verdict, OfARunThatFailedIsItsError) {
  Trace trace = simulate({});
  trace.ending = "failed: the dataset is empty";
  EXPECT_EQ(verdict(trace, {}).sentence, "crashed: failed: the dataset is empty");
}

TEST(Verdict, BeforeTheFirstStepSaysWhatIsBeingDone) {
  const Trace trace = simulate(
      {.seconds = 5, .stuck_from_s = 0, .stuck_phase = RunPhase::kFirstBatch, .ended = false});
  EXPECT_EQ(verdict(trace, {}).sentence, "not-started: no step yet, in \"first batch\" for 5 s");
}

TEST(Doctor, AGpuThatIsThereAndNotUsedIsRemarkedOn) {
  Trace trace = simulate({});
  const auto remarks_on_it = [&] {
    const auto findings = diagnose(trace);
    return std::any_of(findings.begin(), findings.end(), [](const Finding& f) {
      return f.cause == Cause::kGpuNotUsed && f.severity == Severity::kInfo;
    });
  };
  EXPECT_FALSE(remarks_on_it());
  trace.run.gpu = "NVIDIA H200";
  EXPECT_TRUE(remarks_on_it());
  trace.run.device = "cuda:0";
  EXPECT_FALSE(remarks_on_it());
}

}  // namespace
}  // namespace headway
