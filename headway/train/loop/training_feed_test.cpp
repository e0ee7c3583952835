#include "headway/train/loop/training_feed.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "headway/train/loop/training_data.h"

namespace headway {
namespace {

using namespace headway::testing;

struct Recorded {
  StepCounters counters;
  TraceRecorder recorder{"", {}, counters, "", false};
};

int64_t batches_until_the_end(TrainingFeed& feed) {
  int64_t count = 0;
  while (feed.next()) ++count;
  return count;
}

TEST(TrainingFeed, PlansAnEpochBeforeItReads) {
  Recorded r;
  FitOptions options = quiet(2);
  const Dataset ten = batches(signs(100));
  EXPECT_EQ(TrainingFeed(ten, options, at::kCPU, r.recorder).steps_per_epoch(), 10);
  const Dataset some = ten.filter([](const Element&) { return true; });
  EXPECT_EQ(TrainingFeed(some, options, at::kCPU, r.recorder).steps_per_epoch(), -1);
  options.steps_per_epoch = 5;
  EXPECT_EQ(TrainingFeed(ten, options, at::kCPU, r.recorder).steps_per_epoch(), 5);
  options.steps_per_epoch = 6;
  EXPECT_NE(error_of([&] { TrainingFeed(ten, options, at::kCPU, r.recorder); }), "");
}

TEST(TrainingFeed, GivesTheFirstBatchAgain) {
  Recorded r;
  const Dataset data = batches(signs(30)).filter([](const Element&) { return true; });
  TrainingFeed feed(data, quiet(1), at::kCPU, r.recorder);
  feed.start(0);
  ASSERT_TRUE(feed.read_first_batch());
  const Batch first = *feed.first_batch();
  const auto again = feed.next();
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->same(first));
  EXPECT_FALSE(feed.first_batch());
  EXPECT_EQ(batches_until_the_end(feed), 2);
}

TEST(TrainingFeed, HasThePositionBeforeAFirstBatchThatWasNotTrainedOn) {
  Recorded r;
  TrainingFeed feed(batches(signs(30)), quiet(1), at::kCPU, r.recorder);
  EXPECT_FALSE(feed.position());
  feed.start(0);
  feed.read_first_batch();
  EXPECT_FALSE(feed.position());  // the beginning
  feed.next();
  const auto position = feed.position();
  ASSERT_TRUE(position);
  const auto second = feed.next();
  TrainingFeed resumed(batches(signs(30)), quiet(1), at::kCPU, r.recorder);
  resumed.start(0, PipelineState{*position});
  resumed.read_first_batch();
  EXPECT_TRUE(resumed.first_batch()->same(*second));
  EXPECT_EQ(resumed.position(), position);
}

TEST(TrainingFeed, GivesUpWhenItsWaitIsEnded) {
  Recorded r;
  const auto slowly = [](Element e) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return e;
  };
  const Dataset slow = from_tensor_slices({{"x", signs(30).x}}).map(slowly).batch(10);
  TrainingFeed feed(slow, quiet(1), at::kCPU, r.recorder);
  feed.start(0);
  feed.end_wait();
  EXPECT_TRUE(feed.wait_ended());
  EXPECT_FALSE(feed.next());
  EXPECT_TRUE(feed.gave_up());
}

}  // namespace
}  // namespace headway
