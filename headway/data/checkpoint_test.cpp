#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "headway/data/dataset.h"
#include "headway/io/bytes/temp_folder.h"
#include "headway/io/records/tfrecord_writer.h"

namespace headway {
namespace {

std::vector<Element> all_of(const Dataset& dataset) {
  std::vector<Element> elements;
  Pipeline pipeline = dataset.start();
  while (auto e = pipeline.next()) elements.push_back(*e);
  return elements;
}

// Saved after every number of elements and restored with other threads, the rest is the same.
void expect_exact(const Dataset& dataset, size_t step = 1) {
  const std::vector<Element> expected = all_of(dataset.with_options({.threads = 2}));
  ASSERT_FALSE(expected.empty());
  for (size_t cut = 0; cut <= expected.size(); cut += step) {
    PipelineState state;
    {
      Pipeline pipeline = dataset.with_options({.threads = 3}).start();
      for (size_t i = 0; i < cut; ++i) ASSERT_TRUE(pipeline.next());
      state = pipeline.save();
    }
    Pipeline pipeline = dataset.with_options({.threads = 1}).start({.state = state});
    for (size_t i = cut; i < expected.size(); ++i) {
      const auto e = pipeline.next();
      ASSERT_TRUE(e) << "ended at " << i << " after a cut at " << cut;
      ASSERT_TRUE(e->same(expected[i]))
          << i << " after a cut at " << cut << ": " << e->str() << " is not " << expected[i].str();
    }
    EXPECT_FALSE(pipeline.next());
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
    Pipeline pipeline = dataset.with_options({.threads = 4}).start();
    for (int i = 0; i < 77; ++i) seen.insert(pipeline.next()->only().item<int64_t>());
    state = pipeline.save();
  }
  Pipeline pipeline = dataset.with_options({.threads = 2}).start({.state = state});
  while (auto e = pipeline.next()) seen.insert(e->only().item<int64_t>());
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

constexpr int64_t kSum = 6;  // of all that is in the data, at most

// What is said of such a position; empty when it is taken, and only what is there comes.
std::string refusal_of(const Dataset& dataset, const std::string& text) {
  try {
    Pipeline pipeline = dataset.start({.state = PipelineState{text}});
    int64_t sum = 0;
    while (const auto element = pipeline.next()) {
      for (const int64_t value : element->only().values<int64_t>()) sum += value;
    }
    EXPECT_TRUE(sum >= 0 && sum <= kSum) << sum << " from " << text;
  } catch (const Error& e) {
    return e.problem();
  }
  return "";
}

TEST(Checkpoint, WhatIsNoPositionIsRefusedInPlainWords) {
  const Dataset data = range(3);
  const std::string good = data.start().save().text;
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    EXPECT_NE(text.find(from), std::string::npos) << text;
    return text.replace(text.find(from), from.size(), to);
  };
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_EQ(refusal_of(data, good), "");
  for (const std::string& bad :
       {std::string("x"), std::string("[]"), deep, with("\"epoch\":0", "\"epoch\":[]"),
        with("\"taken\":0", "\"taken\":-1"), with("\"cursor\":[", "\"cursor\":[[],")}) {
    const std::string said = refusal_of(data, bad);
    EXPECT_EQ(said.find("this is not a saved position of a pipeline: "), 0u) << said;
    EXPECT_EQ(said.find("json.exception"), std::string::npos) << said;
  }
}

TEST(Checkpoint, NoNumberOfAPositionLeadsOutsideOfTheData) {
  const Dataset slices = from_tensor_slices(Tensor::vector<int64_t>({1, 2, 3}));
  for (const Dataset& data :
       {slices, slices.batch(2), slices.filter([](int64_t) { return true; }).batch(2),
        range(3).interleave([](const Element& e) { return range(e.only().item<int64_t>()); },
                            {.cycle_length = 2})}) {
    const std::string good = data.start().save().text;
    const size_t begin = good.find("\"cursor\":[") + 10, end = good.find(']', begin);
    std::vector<std::string> words;
    std::stringstream in(good.substr(begin, end - begin));
    for (std::string word; std::getline(in, word, ',');) words.push_back(word);
    for (size_t i = 0; i < words.size(); ++i) {
      for (const char* bad : {"-1", "-9223372036854775808", "9223372036854775807", "1000"}) {
        std::vector<std::string> changed = words;
        changed[i] = bad;
        std::string text = good;
        refusal_of(data,
                   text.replace(begin, end - begin, fmt::format("{}", fmt::join(changed, ","))));
      }
    }
  }
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
  Pipeline pipeline = range(1'000'000).shuffle().repeat().batch(32).start();
  for (int i = 0; i < 100; ++i) pipeline.next();
  EXPECT_LT(pipeline.save().text.size(), 1000u);
}

}  // namespace
}  // namespace headway
