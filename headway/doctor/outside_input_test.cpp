#include <gtest/gtest.h>

#include "headway/doctor/simulate_looks.h"

namespace headway {
namespace {

TEST(OutsideRules, ALoaderWithoutWorkersIsNamedWithTheUsersLine) {
  const auto findings = diagnose(watched({loading_inline(300), training(60)}));
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].cause, Cause::kDataloaderWorkers);
  EXPECT_EQ(findings[0].where, "train.py:5   im = Image.open(p).resize(s)");
}

// Twelve workers that want eight cores in all, next to a training thread.
Trace crowded(double main_cores) {
  Trace trace =
      watched({training(250), stack(Activity::kFetch, Wait::kPipe, {users(8, "main", "for")}, 50)});
  Outside& seen = trace.outside;
  for (int64_t pid = 2; pid < 14; ++pid)
    seen.processes.push_back(
        {.pid = pid, .role = Role::kWorker, .name = "python", .state = TaskState::kRunning});
  seen.cores = 3.9;
  seen.wanted_cores = 8;
  seen.ready_share = 0.5;
  seen.threads = {{.name = "main thread", .main = true, .count = 1, .cores = main_cores}};
  return trace;
}

TEST(OutsideRules, WorkersThatTakeTheCoresFromTrainingAreNamed) {
  EXPECT_EQ(first_cause(crowded(0.2)), "dataloader-workers");
  EXPECT_EQ(first_cause(crowded(0.8)), "none");
  Trace on_gpu = crowded(0.2);
  on_gpu.outside.gpus = {{.utilisation = 0.9, .used = true}};
  EXPECT_EQ(first_cause(on_gpu), "none");
}

// A program without a framework that hands out work to a pool, and waits.
Trace handing_out(int64_t own_samples) {
  const SeenStack waits = stack(Activity::kFetch, Wait::kLock,
                                {library("multiprocessing/pool.py", "MapResult.get"),
                                 users(30, "main", "gains = pool.map(best_split, features)")},
                                340 - own_samples);
  SeenStack makes = stack(Activity::kProduce, Wait::kNothing,
                          {users(12, "best_split", "left = np.cumsum(g)")}, 600, Maker::kPool);
  makes.process = Role::kWorker;
  const SeenStack own = stack(Activity::kUser, Wait::kNothing,
                              {users(31, "main", "residual -= rate * tree(x)")}, own_samples);
  Trace trace = watched({waits, makes, own});
  trace.outside.framework = Framework::kNone;
  trace.outside.cores = trace.outside.wanted_cores = 3.9;
  for (int64_t pid = 2; pid < 6; ++pid)
    trace.outside.processes.push_back(
        {.pid = pid, .role = Role::kWorker, .name = "python", .state = TaskState::kRunning});
  return trace;
}

TEST(OutsideRules, APoolThatDoesTheTrainingItselfIsNoInput) {
  EXPECT_EQ(first_cause(handing_out(5)), "none");
  EXPECT_EQ(first_cause(handing_out(120)), "decode-saturated");
}

TEST(OutsideRules, ALittleLoadingIsHealthy) {
  const Trace trace = watched({loading_inline(30), training(330)});
  EXPECT_EQ(first_cause(trace), "none");
  EXPECT_EQ(verdict(trace, {}).state, State::kHealthy);
}

TEST(OutsideRules, ThreeSecondsAreTooFewToJudge) {
  EXPECT_EQ(first_cause(watched({loading_inline(40), training(5)})), "none");
}

TEST(OutsideRules, AGeneratorWhoseFilesAreMissingNeverYields) {
  Trace trace = watched({stack(Activity::kProduce, Wait::kNothing,
                               {users(11, "batches", "image = Image.open(path)"),
                                library("generator_data_adapter.py", "get_tf_dataset"),
                                users(30, "<module>", "model.fit(batches())")},
                               300)});
  trace.outside.progress = {};
  trace.outside.missing_files = {"data/image_0.png"};
  trace.outside.quiet_s = 15;
  const auto findings = diagnose(trace);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].cause, Cause::kSourceNeverYields);
  EXPECT_EQ(verdict(trace, findings).state, State::kStuck);
}

// Keras whose step waits for its own threads, while images are read and decoded.
Trace decoding(double bytes_per_s, int64_t line) {
  Trace trace = watched(
      {stack(Activity::kStep, Wait::kLock, {users(30, "<module>", "model.fit(data)")}, 300)});
  trace.outside.cores = trace.outside.wanted_cores = 3.9;
  trace.outside.read_rate = bytes_per_s;
  trace.outside.decodes_at = {"train.py", "", line, true, "x = tf.io.decode_jpeg(b)"};
  return trace;
}

TEST(OutsideRules, CoresThatDecodeInTensorFlowAreNamedWithTheLine) {
  const auto findings = diagnose(decoding(150e6, 12));
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].cause, Cause::kDecodeSaturated);
  EXPECT_EQ(findings[0].where, "train.py:12   x = tf.io.decode_jpeg(b)");
}

TEST(OutsideRules, LittleReadingOrNothingToDecodeIsHealthy) {
  EXPECT_EQ(first_cause(decoding(10e6, 12)), "none");
  EXPECT_EQ(first_cause(decoding(150e6, 0)), "none");
}

// A worker spends its time on one line, inside this many loops.
Trace looping(int64_t loops, const char* line, bool one_element = true) {
  SeenFrame frame = users(47, "leaf_mask", line);
  frame.loops = loops;
  frame.one_element = one_element;
  SeenStack makes = stack(Activity::kProduce, Wait::kNothing,
                          {frame, library("torch/utils/data/_utils/fetch.py", "fetch")}, 300,
                          Maker::kTorchWorker);
  makes.process = Role::kWorker;
  makes.places = 1, makes.top_place = 300;
  Trace trace = watched(
      {makes, stack(Activity::kFetch, Wait::kPoll, {users(8, "main", "for x in loader:")}, 290),
       training(10)});
  trace.outside.processes.push_back(
      {.pid = 2, .role = Role::kWorker, .name = "python", .state = TaskState::kRunning});
  return trace;
}

TEST(OutsideRules, OneElementAtATimeInALoopWithinALoopIsNamed) {
  EXPECT_EQ(first_cause(looping(2, "mask[0, y, x] = g / 255.0")), "per-pixel-python");
  EXPECT_EQ(first_cause(looping(2, "g = image.getpixel((x, y))")), "per-pixel-python");
}

TEST(OutsideRules, AWholeRowOrASingleLoopIsNot) {
  EXPECT_NE(first_cause(looping(2, "mask[0, y, :] = row", false)), "per-pixel-python");
  EXPECT_NE(first_cause(looping(1, "mask[0, y, x] = g / 255.0")), "per-pixel-python");
  EXPECT_NE(first_cause(looping(2, "image = resize(load(path))", false)), "per-pixel-python");
}

TEST(OutsideRules, ASourceThatReadsOnAndOnInVainIsNamedAfterAWhile) {
  SeenStack reads =
      stack(Activity::kProduce, Wait::kNothing, {users(47, "records", "for line in stream:")}, 300);
  reads.process = Role::kWorker;
  Trace trace = watched(
      {reads, stack(Activity::kFetch, Wait::kPoll, {users(69, "run", "for x in loader:")}, 350)});
  trace.outside.processes.push_back(
      {.pid = 2, .role = Role::kWorker, .name = "python", .state = TaskState::kRunning});
  trace.outside.progress = {};
  trace.outside.read_rate = 5e6;
  trace.outside.endless = {"records"};
  trace.outside.at_s = 22;
  EXPECT_EQ(first_cause(trace), "source-never-yields");
  trace.outside.at_s = 12;  // it may still arrive
  EXPECT_NE(first_cause(trace), "source-never-yields");
}

// TensorFlow's input works, and the first batch has not arrived.
Trace before_the_first_batch(double grown_bytes) {
  Trace trace = watched(
      {stack(Activity::kStep, Wait::kLock, {users(30, "<module>", "model.fit(data)")}, 300)});
  Outside& seen = trace.outside;
  seen.framework = Framework::kTensorFlow;
  seen.progress = {};
  seen.model_threads = 2;
  seen.at_s = 30;
  seen.threads = {{.name = "python", .count = 4, .cores = 1.8, .busiest = 0.9}};
  seen.cores = 1.8;
  for (int i = 0; i <= 60; ++i) {
    TraceReading& sample = trace.samples.emplace_back();
    sample.at_s = 0.5 * i;
    sample.system.rss_bytes = static_cast<int64_t>(500e6 + grown_bytes * i / 60);
  }
  return trace;
}

TEST(OutsideRules, ABufferThatFillsIsToldFromASourceThatGivesNothing) {
  Trace trace = before_the_first_batch(200e6);
  EXPECT_EQ(first_cause(trace), "source-never-yields");
  trace.outside.shuffles_at = users(12, "", "data = data.shuffle(40000)");
  EXPECT_EQ(first_cause(trace), "shuffle-fill");
  trace = before_the_first_batch(0);
  trace.outside.shuffles_at = users(12, "", "data = data.shuffle(40000)");
  EXPECT_EQ(first_cause(trace), "source-never-yields");
}

// 20 s of filling and 6 s of steps; memory grows while filling, and later by this much per second.
Trace after_the_first_batch(double later_per_s) {
  Trace trace = watched({loading_inline(250), training(100)});
  trace.outside.launched = true;
  trace.outside.at_s = 28;
  trace.outside.progress.first_step_s = 22;
  trace.outside.shuffles_at = users(12, "", "pipe = pipe.map(f).shuffle(40000)");
  for (int i = 0; i <= 56; ++i) {
    TraceReading& sample = trace.samples.emplace_back();
    sample.at_s = 0.5 * i;
    const double filling = std::min(22.0, sample.at_s), later = sample.at_s - filling;
    sample.system.rss_bytes = static_cast<int64_t>(300e6 + 20e6 * filling + later_per_s * later);
  }
  return trace;
}

TEST(OutsideRules, ABufferThatTookMostOfTheWatchToFillIsNotForgotten) {
  EXPECT_EQ(first_cause(after_the_first_batch(0)), "shuffle-fill");
  EXPECT_NE(first_cause(after_the_first_batch(20e6)), "shuffle-fill");
}

TEST(OutsideRules, ALoaderIsNotBlamedBeforeTheFirstStep) {
  Trace trace = watched({loading_inline(300)});
  trace.outside.progress = {};
  EXPECT_NE(first_cause(trace), "dataloader-workers");
}

// A tf.data pipeline that is built inside `loops` loops; 100 steps are made inside two loops.
Trace building(int64_t loops, int64_t samples, int64_t steps_seen) {
  SeenFrame builds = users(8, "main", "for x in pipeline(order):");
  builds.loops = loops;
  SeenFrame steps = users(9, "main", "loss = step(x)");
  steps.loops = 2;
  return watched(
      {stack(Activity::kPipeline, Wait::kNothing,
             {library("tensorflow/python/data/ops/iterator_ops.py", "_create_iterator"), builds},
             samples),
       stack(Activity::kStep, Wait::kNothing,
             {library("polymorphic_function/polymorphic_function.py", "__call__"), steps},
             steps_seen),
       training(340 - samples)});
}

TEST(OutsideRules, APipelineWhoseGraphIsHeavyIsNamed) {
  EXPECT_EQ(first_cause(building(1, 200, 10)), "array-as-graph-constant");
  EXPECT_EQ(first_cause(building(1, 20, 10)), "none");
}

TEST(OutsideRules, AQuickPipelineForEachStepIsNotCalledHeavy) {
  EXPECT_EQ(first_cause(building(2, 200, 10)), "input-bound");
  EXPECT_EQ(first_cause(building(1, 200, 0)), "input-bound");
}

}  // namespace
}  // namespace headway
