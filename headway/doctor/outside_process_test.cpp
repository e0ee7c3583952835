#include <gtest/gtest.h>

#include "headway/doctor/simulate_looks.h"

namespace headway {
namespace {

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
  gone.at_s = trace.outside.at_s - trace.outside.main_still_s + 0.2;  // from the previous pool
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

TEST(OutsideRules, FilesThatAreNeverClosedAreNamedAtTheirLimit) {
  Trace trace = watched({training(300)});
  trace.outside.open_files = 63, trace.outside.open_files_limit = 64;
  EXPECT_EQ(first_cause(trace), "limits-or-disk-full");
  trace.outside.open_files = 20;
  EXPECT_EQ(first_cause(trace), "none");
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

// Two workers, or two more trainings, on 4 cores, each with `each` threads that want one.
std::string cause_of_threads(int64_t each, Role role = Role::kWorker) {
  Trace trace = watched({training(300)});
  Outside& seen = trace.outside;
  for (int64_t pid : {2, 3})
    seen.processes.push_back({.pid = pid,
                              .role = role,
                              .name = "python",
                              .state = TaskState::kRunning,
                              .threads = each,
                              .cores = 2,
                              .wanting = each});
  seen.cores = 4, seen.wanted_cores = 2.0 * double(each), seen.ready_share = 0.6;
  return first_cause(trace);
}

TEST(OutsideRules, WorkersWithManyThreadsEachGetInEachOthersWay) {
  EXPECT_EQ(cause_of_threads(16), "thread-oversubscription");
  EXPECT_EQ(cause_of_threads(2), "none");
}

TEST(OutsideRules, TrainingsSideBySideWithManyThreadsEachDoToo) {
  EXPECT_EQ(cause_of_threads(16, Role::kRank), "thread-oversubscription");
  EXPECT_EQ(cause_of_threads(2, Role::kRank), "none");
}

// Nothing moves: the main process waits for its child, and the child waits for this.
std::string cause_behind(Wait wait_of_child, Wait wait_of_main = Wait::kChild) {
  Trace trace = watched({stack(
      Activity::kUser, Wait::kChild,
      {library("subprocess.py", "Popen.wait"), users(20, "score", "if proc.wait() != 0:")}, 300)});
  Outside& seen = trace.outside;
  seen.quiet_s = seen.main_still_s = 12;
  seen.cores = 0;
  seen.processes[0].cores = 0;
  seen.processes[0].wait = wait_of_main;
  seen.processes.push_back({.pid = 2,
                            .role = Role::kWorker,
                            .name = "python",
                            .state = TaskState::kSleeping,
                            .wait = wait_of_child});
  return first_cause(trace);
}

TEST(OutsideRules, WhatAStartedProcessWaitsForHoldsTheRunUp) {
  EXPECT_EQ(cause_behind(Wait::kPipe), "waits-for-pipe");
  EXPECT_EQ(cause_behind(Wait::kTerminal), "waits-for-terminal");
  EXPECT_EQ(cause_behind(Wait::kFileLock), "waits-for-file-lock");
  // However the main process waits: this never counts as waiting for work.
  EXPECT_EQ(cause_behind(Wait::kFileLock, Wait::kSleep), "waits-for-file-lock");
}

TEST(OutsideRules, PyTorchsWarningOfShapesThatAreSpreadIsBelieved) {
  Trace trace = watched({training(300)});
  trace.outside.output.remarks = {
      {Remark::kBroadcasts,
       "UserWarning: Using a target size (torch.Size([250])) that is different "
       "to the input size (torch.Size([250, 1]))."}};
  EXPECT_EQ(first_cause(trace), "loss-output-mismatch");
}

// Memory in use grows by 10 MB per second; a share of `asked_for` of that is newly allocated.
std::string cause_of_growth(double asked_for, double per_s = 10e6, int seconds = 40,
                            bool list_grows = false) {
  Trace trace = watched({training(300)});
  if (list_grows) trace.outside.keeps_at = users(9, "main", "maps.append(map)");
  trace.outside.at_s = seconds;
  for (int i = 0; i <= 2 * seconds; ++i) {
    TraceReading& sample = trace.samples.emplace_back();
    sample.at_s = 0.5 * i;
    sample.system.rss_bytes = static_cast<int64_t>(500e6 + per_s / 2 * i);
    sample.system.writable_bytes = static_cast<int64_t>(3e9 + asked_for * per_s / 2 * i);
    sample.system.available_bytes = 8'000'000'000;
  }
  const auto findings = diagnose(trace);
  return findings.empty() || findings[0].severity == Severity::kInfo ? "none" : findings[0].id();
}

TEST(OutsideRules, FastGrowthIsNamedSooner) {
  EXPECT_EQ(cause_of_growth(1, 40e6, 16), "host-memory-leak");
  EXPECT_EQ(cause_of_growth(1, 8e6, 16), "none");
}

TEST(OutsideRules, LessGrowthWillDoWhereAListExplainsIt) {
  EXPECT_EQ(cause_of_growth(1, 1.1e6), "none");
  EXPECT_EQ(cause_of_growth(1, 1.1e6, 40, true), "host-memory-leak");
}

TEST(OutsideRules, AnArrayThatFillsIsNoLeak) {
  EXPECT_EQ(cause_of_growth(1), "host-memory-leak");
  EXPECT_EQ(cause_of_growth(0), "none");
}

}  // namespace
}  // namespace headway
