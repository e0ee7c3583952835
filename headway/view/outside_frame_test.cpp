#include "headway/view/outside_frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "headway/view/live.h"

namespace headway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

SeenStack stack_of(Activity activity, int64_t recent) {
  SeenStack stack{.process = Role::kMain, .main_thread = true, .activity = activity};
  stack.samples = stack.recent = recent;
  return stack;
}

// A run whose main thread loads its own images.
Trace watched() {
  Trace trace;
  Outside& seen = trace.outside;
  seen.seen = true;
  seen.pid = 4711;
  seen.command = "python train.py";
  seen.at_s = 42;
  SeenProcess main{.pid = 4711, .role = Role::kMain, .state = TaskState::kRunning};
  main.cores = 1.02;
  main.stack = {{.file = "train.py",
                 .function = "load",
                 .line = 31,
                 .users = true,
                 .text = "x = decode(path)"}};
  SeenProcess worker{.pid = 4712, .role = Role::kWorker, .state = TaskState::kSleeping};
  worker.wait = Wait::kLock;
  seen.processes = {main, worker};
  seen.stacks = {stack_of(Activity::kProduce, 75), stack_of(Activity::kStep, 25)};
  seen.threads = {{.name = "tf_Compute", .count = 2, .cores = 0.4}};
  seen.gpus = {{.name = "H200",
                .memory_bytes = 100'000'000'000,
                .memory_used = 5'000'000'000,
                .recent = 0.22,
                .used = true}};
  seen.progress = {
      .epoch = 2, .epochs = 5, .step = 30, .steps_per_epoch = 120, .steps = 150, .step_s = 0.2};
  return trace;
}

const Verdict kSlow{.state = State::kSlow,
                    .sentence = "slow: the main thread makes its own batches"};
const std::vector<Finding> kFindings = {{.cause = Cause::kSequenceOnMainThread,
                                         .severity = Severity::kWarning,
                                         .summary = "the main thread makes its own batches",
                                         .fix = "workers=4"}};

TEST(OutsideFrame, ShowsWhatTheMainThreadDoesAndAtWhichLine) {
  const std::string frame = live_frame(watched(), kSlow, kFindings, 80, 30);
  EXPECT_THAT(frame, HasSubstr("makes samples 75%"));
  EXPECT_THAT(frame, HasSubstr("MMMMSS"));
  EXPECT_THAT(frame, HasSubstr("train.py:31 in load"));
  EXPECT_THAT(frame, HasSubstr("x = decode(path)"));
}

TEST(OutsideFrame, ShowsProgressProcessesThreadsAndGpus) {
  const std::string frame = live_frame(watched(), kSlow, kFindings, 80, 30);
  EXPECT_THAT(frame, HasSubstr("epoch 2/5"));
  EXPECT_THAT(frame, HasSubstr("30/120"));
  EXPECT_THAT(frame, HasSubstr("1 worker 0.00 cores, 1 wait: lock"));
  EXPECT_THAT(frame, HasSubstr("tf_Compute x2 0.40 cores"));
  EXPECT_THAT(frame, HasSubstr("22%"));
  EXPECT_THAT(frame, HasSubstr("workers=4"));
}

TEST(OutsideFrame, ALowScreenKeepsVerdictAndFindings) {
  const std::string frame = live_frame(watched(), kSlow, kFindings, 60, 10);
  EXPECT_THAT(frame, HasSubstr("slow: the main thread"));
  EXPECT_THAT(frame, HasSubstr("workers=4"));
  EXPECT_THAT(frame, Not(HasSubstr("tf_Compute")));
}

TEST(OutsideFrame, NoRowIsLongerThanTheScreen) {
  for (const int width : {20, 40, 200}) {
    std::istringstream rows(live_frame(watched(), kSlow, kFindings, width, 30));
    for (std::string row; std::getline(rows, row);) {
      const auto columns =
          std::count_if(row.begin(), row.end(), [](char c) { return (c & 0xC0) != 0x80; });
      EXPECT_LE(columns, width) << row;
    }
  }
}

TEST(OutsideFrame, SaysWhatCannotBeRead) {
  Trace trace = watched();
  trace.outside.blind = "needs CAP_SYS_PTRACE";
  EXPECT_THAT(live_frame(trace, kSlow, {}, 80, 30),
              HasSubstr("no Python stacks: needs CAP_SYS_PTRACE"));
}

}  // namespace
}  // namespace headway
