#include "headway/observe/watched_feed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "headway/core/clock.h"
#include "headway/doctor/simulate.h"
#include "headway/trace/trace_file.h"

namespace headway {
namespace {

using std::chrono::milliseconds;

// Takes batches until rules have seen enough.
void take_for(WatchedFeed& feed, double seconds, milliseconds own_work = {}) {
  const int64_t until = now_ns() + static_cast<int64_t>(seconds * 1e9);
  while (now_ns() < until) {
    ASSERT_TRUE(feed.next());
    std::this_thread::sleep_for(own_work);
  }
}

Dataset endless() { return range(1'000'000'000); }

int64_t slow(int64_t x) {
  std::this_thread::sleep_for(milliseconds(2));
  return x;
}

TEST(WatchedFeed, NamesTheSerialMapThatIsSlow) {
  const std::string file = ::testing::TempDir() + "watched_feed_test.trace";
  WatchedFeed feed(endless().map(slow, {.num_parallel_calls = 1, .name = "tokenize"}).batch(4),
                   {.trace = file});
  // While it runs; how early depends on how busy the machine is.
  const auto named = [&] {
    const std::vector<Finding> now = feed.diagnosis().findings;
    return std::any_of(now.begin(), now.end(),
                       [](const Finding& f) { return f.cause == Cause::kSerialMap; });
  };
  for (int tries = 0; tries < 30 && !named(); ++tries) take_for(feed, 1);
  EXPECT_TRUE(named());
  take_for(feed, 2);
  const Diagnosis judged = feed.finish();
  ASSERT_FALSE(judged.findings.empty()) << judged.verdict.sentence;
  EXPECT_EQ(judged.findings[0].cause, Cause::kSerialMap) << judged.verdict.sentence;
  EXPECT_EQ(judged.findings[0].where, "tokenize(serial)");
  EXPECT_GT(judged.findings[0].predicted_gain.value_or(0), 1.5);
  EXPECT_EQ(judged.verdict.state, State::kSlow);
  const Trace trace = read_trace(file);
  EXPECT_EQ(trace.ending, "stopped");
  EXPECT_EQ(diagnose(trace).at(0).cause, Cause::kSerialMap);
}

TEST(WatchedFeed, SaysNothingAgainstAFeedThatKeepsUp) {
  WatchedFeed feed(endless().batch(4));
  take_for(feed, 2, milliseconds(5));
  const Diagnosis judged = feed.finish();
  EXPECT_TRUE(judged.findings.empty()) << judged.verdict.sentence;
  EXPECT_EQ(judged.verdict.state, State::kHealthy) << judged.verdict.sentence;
}

// A measured feed is expected to be waited for: its own work is no fault, but neighbours are.
TEST(WatchedFeed, SaysWhatBoundsAMeasuredFeed) {
  testing::Simulation measured{.own_ms = 0.01, .optimizer_ms = 0, .op = {.name = "hash"}};
  Trace trace = testing::simulate(measured);
  trace.run.purpose = Purpose::kMeasure;
  const Finding bound = diagnose(trace).at(0);
  EXPECT_EQ(bound.cause, Cause::kInputBound);
  EXPECT_EQ(bound.severity, Severity::kInfo);
  EXPECT_NE(bound.summary.find("hash"), std::string::npos) << bound.summary;
  EXPECT_EQ(verdict(trace, diagnose(trace)).state, State::kHealthy);
  measured.change = [](TraceReading& s) {
    s.system.cpu_s = 0.5 * s.at_s;
    s.system.run_queue_wait_s = 1.5 * s.at_s;
  };
  trace = testing::simulate(measured);
  trace.run.purpose = Purpose::kMeasure;
  EXPECT_EQ(diagnose(trace).at(0).severity, Severity::kWarning);
  EXPECT_NE(diagnose(trace)[0].summary.find("other programs"), std::string::npos);
}

TEST(WatchedFeed, NamesWhereAStuckFeedWaits) {
  std::mutex held;
  std::condition_variable released;
  bool free = false;
  const auto waits = [&](int64_t x) {
    std::unique_lock lock(held);
    if (x >= 40) released.wait(lock, [&] { return free; });
    return x;
  };
  std::optional<Diagnosis> told;
  std::string text;
  WatchOptions options;
  options.when_stuck = [&](const Diagnosis& diagnosis, const std::string& report) {
    const std::lock_guard lock(held);
    told = diagnosis, text = report;
    free = true;
    released.notify_all();
  };
  WatchedFeed feed(
      range(80).map(waits, {.name = "lookup"}).batch(8).with_options({.stall_report_s = 0}),
      options);
  while (feed.next()) {
  }
  ASSERT_TRUE(told);
  EXPECT_EQ(told->verdict.state, State::kStuck) << text;
  EXPECT_EQ(told->findings.at(0).cause, Cause::kWorkerDeadlock) << text;
  EXPECT_NE(told->findings[0].where.find("lookup"), std::string::npos) << told->findings[0].where;
  EXPECT_NE(text.find("where the threads stand"), std::string::npos) << text;
  EXPECT_EQ(feed.finish().verdict.state, State::kHealthy);
}

// A consumer may stay away as long as it likes: that does not mean that the feed is stuck.
TEST(WatchedFeed, BlamesNobodyForAConsumerThatIsAway) {
  const Trace trace =
      testing::simulate({.stuck_from_s = 10, .stuck_phase = RunPhase::kConsuming, .ended = false});
  EXPECT_EQ(verdict(trace, diagnose(trace)).state, State::kHealthy);
}

TEST(WatchedFeed, SaysWhatEndedIt) {
  const auto bad = [](int64_t x) -> int64_t {
    if (x == 5) throw std::logic_error("no such word");
    return x;
  };
  WatchedFeed feed(range(10).map(bad).batch(5));
  EXPECT_ANY_THROW(while (feed.next()){});
  const Diagnosis judged = feed.finish();
  EXPECT_EQ(judged.verdict.state, State::kCrashed);
  EXPECT_NE(judged.verdict.sentence.find("no such word"), std::string::npos);
}

}  // namespace
}  // namespace headway
