#include <gtest/gtest.h>

#include <set>

#include "headway/data/dataset.h"
#include "headway/io/temp_folder.h"
#include "headway/io/tfrecord_writer.h"

namespace headway {
namespace {

std::vector<Element> all_of(const Dataset& dataset) {
  std::vector<Element> elements;
  Pipeline run = dataset.start();
  while (auto e = run.next()) elements.push_back(*e);
  return elements;
}

// Saved after every number of elements and restored with other threads, the rest is the same.
void expect_exact(const Dataset& dataset, size_t step = 1) {
  const std::vector<Element> expected = all_of(dataset.with_options({.threads = 2}));
  ASSERT_FALSE(expected.empty());
  for (size_t cut = 0; cut <= expected.size(); cut += step) {
    PipelineState state;
    {
      Pipeline run = dataset.with_options({.threads = 3}).start();
      for (size_t i = 0; i < cut; ++i) ASSERT_TRUE(run.next());
      state = run.save();
    }
    Pipeline run = dataset.with_options({.threads = 1}).start({.state = state});
    for (size_t i = cut; i < expected.size(); ++i) {
      const auto e = run.next();
      ASSERT_TRUE(e) << "ended at " << i << " after a cut at " << cut;
      ASSERT_TRUE(e->same(expected[i]))
          << i << " after a cut at " << cut << ": " << e->str() << " is not " << expected[i].str();
    }
    EXPECT_FALSE(run.next());
  }
}

Dataset noisy(const Dataset& dataset) {
  return dataset.random_map([](Element e, Random& random) {
    e.set("noise", Tensor::scalar<float>(random.uniform()));
    return e;
  });
}

bool not_a_third(int64_t x) { return x % 3 != 0; }

TEST(Checkpoint, IndexedChain) { expect_exact(noisy(range(50).shuffle()).repeat(2).batch(8)); }
TEST(Checkpoint, Elements) { expect_exact(noisy(range(40))); }
TEST(Checkpoint, Filter) { expect_exact(noisy(range(60).filter(not_a_third)).batch(7)); }
TEST(Checkpoint, StreamShuffle) {
  expect_exact(
      range(60).filter(not_a_third).shuffle({.buffer_size = 16, .minimum_fill = 4}).batch(3));
}
TEST(Checkpoint, RepeatOfAStream) {
  expect_exact(noisy(range(20).filter(not_a_third).shuffle(8).repeat(3)).batch(4));
}
TEST(Checkpoint, SerialMapAndUnbatch) {
  auto count = [](int64_t x) { return x + 1; };
  expect_exact(range(30).map(count, {.num_parallel_calls = 1}).batch(4).unbatch().batch(3));
}
TEST(Checkpoint, ZipConcatenateEnumerateTakeSkipShard) {
  const Dataset a = range(30).filter(not_a_third), b = range(100, 130);
  expect_exact(zip({a, b}).enumerate().skip(2).take(15).shard(2, 1));
  expect_exact(a.concatenate(b).batch(4));
}
TEST(Checkpoint, FlatMapAndInterleave) {
  const auto count_up = [](const Element& e) {
    const int64_t n = e.only().item<int64_t>();
    return range(100 * n, 100 * n + n);
  };
  expect_exact(range(8).flat_map(count_up).batch(3));
  expect_exact(
      range(8).interleave(count_up, {.cycle_length = 3, .block_length = 2, .parallel = false}));
  expect_exact(range(8)
                   .map([](int64_t x) { return x; })
                   .interleave(count_up, {.cycle_length = 3, .block_length = 2})
                   .batch(2));
}
TEST(Checkpoint, CachePaddedBatchAndGenerator) {
  expect_exact(range(20).filter(not_a_third).cache().repeat(2).batch(3));
  expect_exact(range(20)
                   .map([](Element e) {
                     Element out;
                     out.set("x", Tensor::empty(DType::kUInt8, {0}));
                     out.set("n", e.only());
                     return out;
                   })
                   .padded_batch(3));
  expect_exact(generator([] {
                 return [n = int64_t{0}]() mutable -> std::optional<Element> {
                   if (n == 25) return std::nullopt;
                   return Element(Tensor::scalar<int64_t>(n++));
                 };
               })
                   .shuffle(10)
                   .batch(2));
}

TEST(Checkpoint, FilesOfRecordsAndLines) {
  const TempFolder folder;
  std::vector<std::string> plain, gzip;
  for (int f = 0; f < 3; ++f) {
    for (const bool zipped : {false, true}) {
      auto& files = zipped ? gzip : plain;
      files.push_back(folder.path(std::to_string(f) + (zipped ? ".gz" : ".tfrecord")));
      TFRecordWriter writer(files.back(),
                            {.compression = zipped ? Compression::kGzip : Compression::kNone});
      for (int i = 0; i < 9; ++i) writer.write("record " + std::to_string(100 * f + i));
      writer.close();
    }
    folder.write(std::to_string(f) + ".txt", "a\nbb\n\nccc");
  }
  expect_exact(tfrecord(plain).shuffle().batch(4));
  expect_exact(tfrecord(plain, {.index = false}).shuffle(8).batch(4));
  expect_exact(tfrecord(gzip, {.num_parallel_reads = 2}).batch(4));
  expect_exact(tfrecord(gzip, {.num_parallel_reads = 1}).batch(4));
  expect_exact(text_lines(folder.path("*.txt")).batch(2));
}

TEST(Checkpoint, UnorderedGivesTheRestAndNothingTwice) {
  const Dataset dataset = range(200).map([](int64_t x) { return x; }, {.ordered = false});
  std::multiset<int64_t> seen;
  PipelineState state;
  {
    Pipeline run = dataset.with_options({.threads = 4}).start();
    for (int i = 0; i < 77; ++i) seen.insert(run.next()->only().item<int64_t>());
    state = run.save();
  }
  Pipeline run = dataset.with_options({.threads = 2}).start({.state = state});
  while (auto e = run.next()) seen.insert(e->only().item<int64_t>());
  EXPECT_EQ(seen.size(), 200u);
  EXPECT_EQ(std::set<int64_t>(seen.begin(), seen.end()).size(), 200u);
}

TEST(Checkpoint, AnotherPipelineIsRefusedWithBothShown) {
  const PipelineState state = range(10).batch(2).start().save();
  try {
    range(10).batch(3).start({.state = state});
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(e.problem().find("batch(2)"), std::string::npos);
    EXPECT_NE(e.problem().find("batch(3)"), std::string::npos);
  }
  EXPECT_THROW(range(10).start({.state = PipelineState{"nonsense"}}), Error);
}

TEST(Checkpoint, SaysWhatRestoringCosts) {
  const auto cost = [](const Dataset& d) {
    const std::string text = d.start().explain();
    return text.substr(text.find("restoring a position"));
  };
  EXPECT_NE(cost(range(9).shuffle().batch(2)).find("is a seek"), std::string::npos);
  EXPECT_NE(cost(range(9).filter(not_a_third).shuffle(4)).find("shuffle replays the elements"),
            std::string::npos);
}

TEST(Checkpoint, OfARandomAccessChainIsSmall) {
  Pipeline run = range(1'000'000).shuffle().repeat().batch(32).start();
  for (int i = 0; i < 100; ++i) run.next();
  EXPECT_LT(run.save().text.size(), 1000u);
}

}  // namespace
}  // namespace headway
