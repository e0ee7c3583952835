#include "headway/data/pipeline.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <set>
#include <thread>

#include "headway/core/log.h"
#include "headway/core/sync.h"
#include "headway/data/dataset.h"

namespace headway {
namespace {

std::vector<int64_t> values_of(const Dataset& dataset, int threads = 2) {
  std::vector<int64_t> values;
  Pipeline pipeline = dataset.with_options({.threads = threads}).start();
  while (auto e = pipeline.next()) {
    for (int64_t v : e->fields()[0].value.values<int64_t>()) values.push_back(v);
  }
  return values;
}

std::vector<int64_t> iota(int64_t n, int64_t first = 0) {
  std::vector<int64_t> values(n);
  std::iota(values.begin(), values.end(), first);
  return values;
}

int64_t twice(int64_t x) { return 2 * x; }

TEST(Pipeline, GivesARangeInOrder) { EXPECT_EQ(values_of(range(100)), iota(100)); }

TEST(Pipeline, MapsInOrderWhateverTheThreads) {
  std::vector<int64_t> expected;
  for (int64_t i = 0; i < 1000; ++i) expected.push_back(2 * i);
  for (int threads : {0, 1, 2, 16}) {
    EXPECT_EQ(values_of(range(1000).map(twice).batch(32), threads), expected) << threads;
    EXPECT_EQ(values_of(range(1000).map(twice), threads), expected) << threads;
  }
}

TEST(Pipeline, KeepsTheShortLastBatchUnlessToldToDropIt) {
  std::vector<int64_t> sizes;
  for (const Batch& b : range(10).batch(4)) sizes.push_back(b.only().dim(0));
  EXPECT_EQ(sizes, (std::vector<int64_t>{4, 4, 2}));
  EXPECT_EQ(values_of(range(10).batch(4, {.drop_remainder = true})), iota(8));
}

TEST(Pipeline, FilterDropsAndBatchesStayFull) {
  const Dataset even = range(100).filter([](int64_t x) { return x % 2 == 0; });
  std::vector<int64_t> expected;
  for (int64_t i = 0; i < 100; i += 2) expected.push_back(i);
  EXPECT_EQ(values_of(even), expected);
  Pipeline pipeline = even.batch(7).start();
  EXPECT_EQ(pipeline.next()->only().dim(0), 7);
}

TEST(Pipeline, AFunctionThatThrowsIsNamedAndEndsTheRun) {
  const Dataset bad = range(100).map(
      [](int64_t x) -> int64_t {
        if (x == 40) throw std::runtime_error("forty is bad");
        return x;
      },
      {.name = "check"});
  Pipeline pipeline = bad.batch(8).with_options({.threads = 2}).start();
  try {
    while (pipeline.next()) {
    }
    FAIL() << "the error was lost";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "check: forty is bad");
  }
  EXPECT_FALSE(pipeline.next());
}

TEST(Pipeline, ElementsBeforeABadOneStillCome) {
  const Dataset bad = range(100).map([](int64_t x) -> int64_t {
    if (x == 40) throw std::runtime_error("bad");
    return x;
  });
  Pipeline pipeline = bad.with_options({.threads = 4}).start();
  for (int64_t i = 0; i < 40; ++i) ASSERT_EQ(pipeline.next()->only().item<int64_t>(), i);
  EXPECT_THROW(pipeline.next(), Error);
}

TEST(Pipeline, AbandonedEarlyItJoinsItsThreadsAndFreesEverything) {
  auto token = std::make_shared<int>(0);
  {
    const Dataset endless = range(1000).map([token](int64_t x) { return x; }).repeat().batch(10);
    Pipeline pipeline = endless.start();
    pipeline.next();
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST(Pipeline, TheSameSeedGivesTheSameRandomNumbersForAnyThreads) {
  const auto noisy = range(500)
                         .shuffle()
                         .random_map([](Element e, Random& random) {
                           e.set("noise", Tensor::scalar<float>(random.uniform()));
                           return e;
                         })
                         .batch(16);
  std::vector<Element> expected;
  for (const Batch& b : noisy.with_options({.threads = 0})) expected.push_back(b);
  for (int threads : {1, 2, 16}) {
    size_t i = 0;
    Pipeline pipeline = noisy.with_options({.threads = threads}).start();
    while (auto batch = pipeline.next()) EXPECT_TRUE(batch->same(expected[i++]));
    EXPECT_EQ(i, expected.size());
  }
}

TEST(Pipeline, UnorderedGivesEveryElementOnce) {
  const Dataset uneven = range(300).map(
      [](int64_t x) {
        if (x % 7 == 0) std::this_thread::yield();
        return x;
      },
      {.ordered = false});
  const auto values = values_of(uneven, 4);
  EXPECT_EQ(std::set<int64_t>(values.begin(), values.end()).size(), 300u);
  EXPECT_EQ(values.size(), 300u);
}

TEST(Pipeline, ASerialMapIsCalledInOrderAndAlone) {
  auto last = std::make_shared<std::atomic<int64_t>>(-1);
  const Dataset serial = range(500).map(
      [last](int64_t x) {
        EXPECT_EQ(last->exchange(x), x - 1);
        return x;
      },
      {.num_parallel_calls = 1});
  EXPECT_EQ(values_of(serial.batch(8), 4), iota(500));
}

TEST(Pipeline, NoMoreCallsAtOnceThanAskedFor) {
  auto inside = std::make_shared<std::atomic<int>>(0);
  auto most = std::make_shared<std::atomic<int>>(0);
  const Dataset two = range(200).map(
      [=](int64_t x) {
        const int now = ++*inside;
        int seen = *most;
        while (now > seen && !most->compare_exchange_weak(seen, now)) {
        }
        std::this_thread::yield();
        --*inside;
        return x;
      },
      {.num_parallel_calls = 2});
  EXPECT_EQ(values_of(two, 8), iota(200));
  EXPECT_LE(most->load(), 2);
}

TEST(Pipeline, BatchesOfDifferentShapesAreRefusedWithTheSampleNamed) {
  const Dataset ragged = range(4).map([](Element e) {
    Element out;
    out.set("x", Tensor::empty(DType::kFloat32, {3 + (e.only().item<int64_t>() == 2)}));
    return out;
  });
  Pipeline pipeline = ragged.batch(4).with_options({.threads = 1}).start();
  try {
    pipeline.next();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.problem(),
              "batch: 'x' of sample 2 is float32 of shape 4, but other samples in the batch have "
              "float32 of shape 3");
    EXPECT_FALSE(e.hint().empty());
  }
}

TEST(Pipeline, SaysWhoWaitsWhenNothingMoves) {
  std::string report;
  Mutex mu;
  auto old = set_log_sink([&](LogLevel, const std::string& text) {
    MutexLock lock(mu);
    report = text;
  });
  auto release = std::make_shared<std::atomic<bool>>(false);
  const Dataset stuck = range(10).map(
      [release, &mu, &report](int64_t x) {
        while (!*release) {
          std::this_thread::yield();
          MutexLock lock(mu);
          if (!report.empty()) *release = true;
        }
        return x;
      },
      {.name = "stuck_map"});
  Pipeline pipeline = stuck.with_options({.threads = 1, .stall_report_s = 0.05}).start();
  EXPECT_EQ(pipeline.next()->only().item<int64_t>(), 0);
  set_log_sink(old);
  EXPECT_NE(report.find("in stuck_map of range+stuck_map for"), std::string::npos) << report;
  EXPECT_NE(report.find("no element for"), std::string::npos);
}

TEST(Pipeline, StaysWithinItsRamBudget) {
  const Dataset big = range(64)
                          .map([](Element) {
                            Element out;
                            out.set("x", Tensor::empty(DType::kUInt8, {1 << 20}));
                            return out;
                          })
                          .batch(4);
  Pipeline pipeline = big.with_options({.threads = 2, .ram_budget_bytes = 10 << 20}).start();
  while (pipeline.next()) {
  }
  EXPECT_LE(pipeline.stats().ram_peak_bytes, 10 << 20);
}

TEST(Pipeline, StagesLeftEarlyGiveTheirMemoryBack) {
  const Dataset d =
      range(100)
          .map([](Element) { return Element(Tensor::empty(DType::kUInt8, {1 << 16})); })
          .batch(4)
          .take(2)
          .repeat(50);
  Pipeline pipeline = d.with_options({.threads = 2}).start();
  while (pipeline.next()) {
  }
  // The last round's queues at most, and those of a round that a worker is just leaving.
  EXPECT_LE(pipeline.stats().ram_used_bytes, 4 * 16 * (4 << 16));
}

TEST(Pipeline, ASerialFunctionStaysAloneWhenItsStageIsLeftEarly) {
  auto inside = std::make_shared<std::atomic<int>>(0);
  const Dataset d = range(1000)
                        .map(
                            [inside](int64_t x) {
                              EXPECT_EQ(++*inside, 1);
                              std::this_thread::yield();
                              --*inside;
                              return x;
                            },
                            {.num_parallel_calls = 1})
                        .batch(4)
                        .take(2)
                        .repeat(30);
  Pipeline pipeline = d.with_options({.threads = 4}).start();
  while (pipeline.next()) {
  }
}

TEST(Pipeline, TellsWhatItPlannedAndChose) {
  Pipeline pipeline = range(10).map(twice).shuffle().batch(2).with_options({.threads = 1}).start();
  pipeline.next();
  const std::string text = pipeline.explain();
  EXPECT_NE(text.find("1 threads, as asked"), std::string::npos) << text;
  EXPECT_LT(text.rfind("shuffle"), text.rfind("map")) << text;  // planned: the shuffle moved down
}

// How many workers there are after a while, when each element takes them 5 ms of waiting.
int workers_beside_a_consumer_that_takes(std::chrono::milliseconds each) {
  const auto wait = [](Element e) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return e;
  };
  Pipeline pipeline =
      range(100'000).map(wait).prefetch(4096).with_options({.spare_cores = 1000}).start();
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1200);
  while (std::chrono::steady_clock::now() < until && pipeline.next())
    std::this_thread::sleep_for(each);
  return pipeline.stats().threads;
}

TEST(Pipeline, AddsWorkersThatWaitOnlyWhereTheConsumerMissesThem) {
  EXPECT_GT(workers_beside_a_consumer_that_takes(std::chrono::milliseconds(0)), 2);
  EXPECT_LE(workers_beside_a_consumer_that_takes(std::chrono::milliseconds(100)), 2);
}

TEST(Pipeline, LeavesCoresToOthersButKeepsOneWorker) {
  const Pipeline pipeline = range(10).with_options({.spare_cores = 1000}).start();
  EXPECT_EQ(pipeline.stats().threads, 1);
  EXPECT_NE(pipeline.explain().find("left to others"), std::string::npos) << pipeline.explain();
  EXPECT_EQ(range(10).with_options({.threads = 3, .spare_cores = 1000}).start().stats().threads, 3);
}

}  // namespace
}  // namespace headway
