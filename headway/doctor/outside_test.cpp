#include <gtest/gtest.h>

#include "headway/doctor/diagnose.h"

namespace headway {
namespace {

SeenFrame users(int64_t line, const char* function, const char* text) {
  return {"train.py", function, line, true, text};
}
SeenFrame library(const char* file, const char* function) { return {file, function, 1, false, ""}; }

// A run of 20 s whose training thread and others were seen like this.
Trace watched(std::vector<SeenStack> stacks) {
  Trace trace;
  trace.run.cpus = 4;
  trace.run.machine_cores = 4;
  Outside& seen = trace.outside;
  seen.seen = true;
  seen.at_s = 20;
  seen.framework = Framework::kTorch;
  seen.training_since_s = 2;
  seen.progress = {.source = ProgressSource::kOutput,
                   .steps = 100,
                   .first_step_s = 2,
                   .last_step_s = 20,
                   .step_s = 0.2};
  // As the looks of 18 seconds would be counted.
  for (int i = 0; i < 18; ++i) {
    LedgerBlock& block = seen.ledger.emplace_back();
    block.at_s = 2 + i, block.seconds = 1, block.training = true;
    for (const SeenStack& s : stacks)
      if (s.process == Role::kMain && s.main_thread)
        block.entries.push_back({s.account, DeviceState::kNone, s.samples / 18});
  }
  seen.stacks = std::move(stacks);
  seen.processes = {{.pid = 1,
                     .role = Role::kMain,
                     .name = "python",
                     .state = TaskState::kRunning,
                     .cores = 1,
                     .python = "3.11"}};
  seen.cores = 1;
  return trace;
}

SeenStack stack(Activity activity, Wait wait, std::vector<SeenFrame> frames, int64_t samples,
                Maker maker = Maker::kNone) {
  return {.process = Role::kMain,
          .main_thread = true,
          .activity = activity,
          .maker = maker,
          .wait = wait,
          .account = activity == Activity::kStep      ? Account::kComputes
                     : activity == Activity::kFetch   ? Account::kWaitsForData
                     : activity == Activity::kProduce ? Account::kMakesData
                                                      : Account::kRunsOwnCode,
          .training = true,
          .frames = std::move(frames),
          .samples = samples,
          .recent = samples};
}

std::string first_cause(const Trace& trace) {
  const auto findings = diagnose(trace);
  return findings.empty() ? "none" : findings[0].id();
}

SeenStack training(int64_t samples) {
  return stack(
      Activity::kStep, Wait::kNothing,
      {library("torch/nn/modules/module.py", "Module._call_impl"), users(9, "main", "y = net(x)")},
      samples);
}

SeenStack loading_inline(int64_t samples) {
  return stack(
      Activity::kProduce, Wait::kNothing,
      {library("PIL/Image.py", "Image.resize"),
       users(5, "Cats.__getitem__", "im = Image.open(p).resize(s)"),
       library("torch/utils/data/_utils/fetch.py", "fetch"),
       library("torch/utils/data/dataloader.py", "__next__"), users(8, "main", "for x in loader:")},
      samples, Maker::kTorchInline);
}

TEST(OutsideRules, ALoaderWithoutWorkersIsNamedWithTheUsersLine) {
  const auto findings = diagnose(watched({loading_inline(300), training(60)}));
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].cause, Cause::kDataloaderWorkers);
  EXPECT_EQ(findings[0].where, "train.py:5   im = Image.open(p).resize(s)");
}

// Twelve workers that want eight cores' worth of time, beside a training thread.
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
  on_gpu.outside.gpus = {{.used = true}};
  EXPECT_EQ(first_cause(on_gpu), "none");
}

// A pool of two whose parent waits for its results.
Trace waiting_pool(std::vector<SeenFrame> first, std::vector<SeenFrame> second) {
  Trace trace = watched({});
  Outside& seen = trace.outside;
  seen.framework = Framework::kNone;
  seen.progress = {};
  seen.cores = 0;
  seen.main_still_s = seen.quiet_s = 12;
  seen.processes[0].cores = 0;
  seen.processes[0].state = TaskState::kSleeping;
  seen.processes[0].waits_for_worker = true;
  seen.processes[0].stack = {library("threading.py", "Event.wait"),
                             library("multiprocessing/pool.py", "ApplyResult.get"),
                             users(21, "main", "done = pool.map(features, pages)")};
  for (auto* stack : {&first, &second}) {
    SeenProcess worker{
        .pid = 2, .role = Role::kWorker, .name = "python", .state = TaskState::kSleeping};
    worker.stack = std::move(*stack);
    worker.waits_for_task = !worker.stack[0].users;
    seen.processes.push_back(worker);
  }
  return trace;
}
const std::vector<SeenFrame> kNoTask = {library("multiprocessing/queues.py", "SimpleQueue.get"),
                                        library("multiprocessing/pool.py", "worker"),
                                        users(21, "main", "done = pool.map(features, pages)")};
const std::vector<SeenFrame> kATask = {users(9, "features", "time.sleep(100)"),
                                       library("multiprocessing/pool.py", "mapstar"),
                                       library("multiprocessing/pool.py", "worker")};

TEST(OutsideRules, WorkersThatWentBeforeTheWaitBeganAreNoCause) {
  const std::vector<SeenFrame> blocked = {
      library("multiprocessing/queues.py", "Queue.put"), users(9, "features", "outbox.put(x)"),
      library("multiprocessing/pool.py", "mapstar"), library("multiprocessing/pool.py", "worker")};
  Trace trace = waiting_pool(blocked, blocked);
  for (SeenProcess& p : trace.outside.processes)
    if (p.role == Role::kWorker) p.wait = Wait::kLock, p.still_s = 12, p.waits_for_task = false;
  SeenProcess gone{.pid = 3, .role = Role::kWorker, .name = "python"};
  gone.at_s = trace.outside.at_s - trace.outside.main_still_s + 0.2;  // of the pool before
  trace.outside.processes.push_back(gone);
  EXPECT_EQ(first_cause(trace), "worker-deadlock");
}

TEST(OutsideRules, APoolThatWaitsWhileAllItsWorkersDoHasLostATask) {
  const auto findings = diagnose(waiting_pool(kNoTask, kNoTask));
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].cause, Cause::kWorkerDied);
  EXPECT_EQ(findings[0].where, "train.py:21   done = pool.map(features, pages)");
}

TEST(OutsideRules, APoolWithATaskUnderWayHasNot) {
  for (const Finding& f : diagnose(waiting_pool(kNoTask, kATask)))
    EXPECT_NE(f.cause, Cause::kWorkerDied);
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

TEST(OutsideRules, FilesThatAreNeverClosedAreNamedAtTheirLimit) {
  Trace trace = watched({training(300)});
  trace.outside.open_files = 63, trace.outside.open_files_limit = 64;
  EXPECT_EQ(first_cause(trace), "limits-or-disk-full");
  trace.outside.open_files = 20;
  EXPECT_EQ(first_cause(trace), "none");
}

// One core is busy in a loop before training, and nothing is said or read.
Trace searching(bool in_while) {
  SeenFrame frame = users(19, "starting_centres", "gaps = norm(centres - candidate)");
  frame.loops = 1, frame.in_while = in_while;
  SeenStack own = stack(Activity::kUser, Wait::kNothing, {frame}, 400);
  own.training = false;
  Trace trace = watched({own});
  trace.outside.at_s = 24;
  trace.outside.training_since_s = -1;
  trace.outside.progress = {};
  trace.outside.wanted_cores = 1;
  return trace;
}

TEST(OutsideRules, ASearchThatMayNeverEndIsNamedACountedLoopIsNot) {
  EXPECT_EQ(first_cause(searching(true)), "loop-never-ends");
  EXPECT_NE(first_cause(searching(false)), "loop-never-ends");
}

TEST(OutsideRules, ALittleLoadingIsHealthy) {
  const Trace trace = watched({loading_inline(30), training(330)});
  EXPECT_EQ(first_cause(trace), "none");
  EXPECT_EQ(verdict(trace, {}).state, State::kHealthy);
}

// Looks twice a second at a run whose steps take as long as `step_s` says for that time.
template <typename StepTime>
std::string cause_of_paces(StepTime step_s) {
  Trace trace = watched({training(300)});
  double steps = 0;
  for (int i = 0; i < 40; ++i) {
    TraceSample sample;
    sample.at_s = 0.5 * i;
    steps += 0.5 / step_s(i);
    sample.steps = int64_t(steps);
    trace.samples.push_back(sample);
  }
  return first_cause(trace);
}

// A machine on which every other look finds a slower one.
double noise(int i) { return i % 2 ? 1.15 : 1; }

TEST(OutsideRules, StepsThatTakeLongerAndLongerAreNamedInSpiteOfNoise) {
  EXPECT_EQ(cause_of_paces([](int i) { return (10e-3 + 1e-3 * i) * noise(i / 3); }),
            "step-time-grows");
}

TEST(OutsideRules, ANeighbourThatComesAndStaysIsNoGrowth) {
  EXPECT_EQ(cause_of_paces([](int i) { return (i < 20 ? 10e-3 : 25e-3) * noise(i / 3); }), "none");
  EXPECT_EQ(cause_of_paces([](int i) { return 10e-3 * noise(i); }), "none");
}

// Begins at 2.3, is up at `peak` for the first quarter of the watch and at `late` in the rest.
std::string cause_of_losses(double peak, double late) {
  Trace trace = watched({training(300)});
  for (int i = 0; i < 40; ++i) {
    const double loss = i == 0 ? 2.3 : i < 10 ? peak : late + 0.01 * i;
    trace.outside.losses.push_back({0.5 * i, 50 * i, loss});
  }
  trace.outside.launched = true;
  trace.outside.progress.steps = trace.outside.progress.losses = 2000;
  trace.outside.progress.first_loss = 2.3;
  return first_cause(trace);
}

TEST(OutsideRules, ALossThatWentUpAndStaysThereIsNamed) {
  EXPECT_EQ(cause_of_losses(10, 9), "learning-rate");
  EXPECT_EQ(cause_of_losses(5e8, 4), "learning-rate");
  EXPECT_EQ(cause_of_losses(10, 4), "none");
  EXPECT_EQ(cause_of_losses(5e8, 2), "none");  // it came back
}

TEST(OutsideRules, ThreeSecondsAreTooFewToJudge) {
  EXPECT_EQ(first_cause(watched({loading_inline(40), training(5)})), "none");
}

TEST(OutsideRules, WorkersThatAllWaitForOneLockAreDeadlocked) {
  Trace trace = watched({stack(
      Activity::kFetch, Wait::kPoll,
      {library("multiprocessing/connection.py", "wait"),
       library("torch/utils/data/dataloader.py", "__next__"), users(8, "main", "for x in loader:")},
      300)});
  trace.outside.main_still_s = trace.outside.quiet_s = 12;
  trace.outside.cores = 0;
  trace.outside.processes[0].cores = 0;
  SeenProcess worker{.pid = 2,
                     .role = Role::kWorker,
                     .name = "python",
                     .state = TaskState::kSleeping,
                     .still_s = 12,
                     .wait = Wait::kLock};
  worker.stack = {users(4, "Cats.__getitem__", "with lock:")};
  trace.outside.processes.push_back(worker);
  const auto findings = diagnose(trace);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].cause, Cause::kWorkerDeadlock);
  EXPECT_EQ(findings[0].where, "train.py:4   with lock:");
  EXPECT_EQ(verdict(trace, findings).state, State::kStuck);
}

TEST(OutsideRules, WorkersThatWaitForWorkAreNot) {
  Trace trace = watched({training(300)});
  SeenProcess worker{.pid = 2,
                     .role = Role::kWorker,
                     .name = "python",
                     .state = TaskState::kSleeping,
                     .still_s = 12,
                     .wait = Wait::kLock};
  worker.stack = {library("multiprocessing/queues.py", "Queue.get"),
                  users(4, "work", "job = jobs.get()")};
  trace.outside.processes.push_back(worker);
  EXPECT_EQ(first_cause(trace), "none");
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

TEST(OutsideVerdict, ACrashSaysWhatAndWhere) {
  Trace trace = watched({training(100)});
  trace.outside.exit = "exit status 1";
  trace.outside.exit_status = 1;
  trace.outside.output.exception = "ValueError: shapes differ";
  trace.outside.output.raised_at = users(7, "main", "loss(x, y)");
  const Verdict said = verdict(trace, diagnose(trace));
  EXPECT_EQ(said.state, State::kCrashed);
  EXPECT_EQ(said.sentence,
            "crashed: exit status 1; ValueError: shapes differ at train.py:7   loss(x, y)");
}

TEST(OutsideVerdict, OfWhatMayNotBeReadNothingIsSaidButWhy) {
  Trace trace = watched({training(300)});
  trace.outside.unwatched = "process 2 is a thread of the kernel";
  const Verdict said = verdict(trace, diagnose(trace));
  EXPECT_EQ(said.state, State::kNotWatched);
  EXPECT_EQ(said.sentence, "not watched: process 2 is a thread of the kernel");
  EXPECT_TRUE(diagnose(trace).empty());
}

TEST(OutsideVerdict, AProcessThatIsGoneIsNotHealthy) {
  Trace trace = watched({training(300)});
  trace.outside.gone = true;
  const Verdict said = verdict(trace, {});
  EXPECT_EQ(said.state, State::kEnded);
  EXPECT_NE(said.sentence.find("of watching"), std::string::npos) << said.sentence;
  EXPECT_FALSE(said.eta_s);
}

TEST(OutsideVerdict, AHealthyRunSaysWhenItEnds) {
  Trace trace = watched({training(300)});
  trace.outside.progress.epoch = trace.outside.progress.epochs = 1;
  trace.outside.progress.steps_per_epoch = 200;
  trace.outside.progress.step = 100;
  const Verdict said = verdict(trace, {});
  EXPECT_EQ(said.state, State::kHealthy);
  ASSERT_TRUE(said.eta_s);
  EXPECT_DOUBLE_EQ(*said.eta_s, 20);
}

// Keras whose step waits for threads of its own, while images are read and decoded.
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

TEST(OutsideRules, AFirstStepThatCompilesIsNoStall) {
  Trace trace = watched(
      {stack(Activity::kTrace, Wait::kNothing, {users(30, "<module>", "model.fit(x)")}, 200),
       stack(Activity::kStep, Wait::kLock, {users(30, "<module>", "model.fit(x)")}, 150)});
  trace.outside.launched = true;
  trace.outside.progress = {};
  const auto findings = diagnose(trace);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].cause, Cause::kFirstStepCompiling);
  EXPECT_EQ(findings[0].severity, Severity::kInfo);
  trace.outside.progress.steps = 100;
  EXPECT_NE(first_cause(trace), "first-step-compiling");
  trace.outside.progress.first_step_s = 14;  // 12 s after training began, 6 s ago
  EXPECT_EQ(first_cause(trace), "first-step-compiling");
  trace.outside.at_s = 60;
  EXPECT_NE(first_cause(trace), "first-step-compiling");
}

// A worker's time goes to one line, inside so many loops.
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
  trace.outside.at_s = 12;  // it may yet come
  EXPECT_NE(first_cause(trace), "source-never-yields");
}

}  // namespace
}  // namespace headway
