#include "headway/data/dataset.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "headway/core/log.h"
#include "headway/io/bytes/temp_folder.h"
#include "headway/io/records/tfrecord_writer.h"

namespace headway {
namespace {

using Ints = std::vector<int64_t>;

Ints values_of(const Dataset& dataset, int threads = 2) {
  Ints values;
  Pipeline pipeline = dataset.with_options({.threads = threads}).start();
  while (auto e = pipeline.next()) {
    for (int64_t v : e->fields()[0].value.values<int64_t>()) values.push_back(v);
  }
  return values;
}

Dataset stream(int64_t n) {  // a range that hides its index
  return range(n).filter([](int64_t) { return true; });
}

Dataset count_to(const Element& e) { return range(e.only().item<int64_t>()); }

TEST(Dataset, TakeSkipShardRepeatAreTheSameForIndexAndStream) {
  for (const Dataset& d : {range(10), stream(10)}) {
    EXPECT_EQ(values_of(d.take(3)), (Ints{0, 1, 2}));
    EXPECT_EQ(values_of(d.take(-1)).size(), 10u);
    EXPECT_EQ(values_of(d.skip(7)), (Ints{7, 8, 9}));
    EXPECT_EQ(values_of(d.skip(70)), Ints{});
    EXPECT_EQ(values_of(d.shard(3, 1)), (Ints{1, 4, 7}));
    EXPECT_EQ(values_of(d.take(2).repeat(3)), (Ints{0, 1, 0, 1, 0, 1}));
    EXPECT_EQ(values_of(d.repeat().take(12)), (Ints{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1}));
  }
}

Element add_one_in_place(Element e) {
  for (int64_t& value : e.only().values<int64_t>()) ++value;
  return e;
}

TEST(Dataset, AFunctionMayWriteToItsElementWhoeverSharesTheValues) {
  const Tensor base = Tensor::vector<int64_t>({1, 2, 3, 4, 5, 6}).reshaped({3, 2});
  const Ints once{2, 3, 4, 5, 6, 7};
  Ints thrice;
  for (int i = 0; i < 3; ++i) thrice.insert(thrice.end(), once.begin(), once.end());
  const Dataset slices = from_tensor_slices(base), kept = slices.cache();
  const auto drawn = [](Element e, Random&) { return add_one_in_place(std::move(e)); };
  const auto three = [](const Element& e) { return range(3).map([e](int64_t) { return e; }); };
  for (int pass = 0; pass < 3; ++pass) {
    EXPECT_EQ(values_of(slices.map(add_one_in_place)), once);
    EXPECT_EQ(values_of(kept.map(add_one_in_place)), once);
    EXPECT_EQ(values_of(kept.random_map(drawn)), once);
    EXPECT_EQ(values_of(kept.repeat(3).map(add_one_in_place), 4), thrice);
    EXPECT_EQ(values_of(slices.flat_map(three).map(add_one_in_place), 4),
              (Ints{2, 3, 2, 3, 2, 3, 4, 5, 4, 5, 4, 5, 6, 7, 6, 7, 6, 7}));
  }
  EXPECT_TRUE(base.same(Tensor::vector<int64_t>({1, 2, 3, 4, 5, 6}).reshaped({3, 2})));
}

TEST(Dataset, AFunctionThatOnlyReadsIsGivenTheSharedValuesThemselves) {
  const Tensor base = Tensor::vector<int64_t>({1, 2, 3});
  const Tensor rows = base.reshaped({1, 3});
  const void* seen = nullptr;
  const auto reads = [&seen](const Element& e) {
    seen = e.only().data();
    return e;
  };
  EXPECT_EQ(values_of(from_tensor_slices(rows).map(reads)), (Ints{1, 2, 3}));
  EXPECT_EQ(seen, base.data());
}

TEST(Dataset, RangeGoesEitherWay) {
  EXPECT_EQ(values_of(range(2, 8, 3)), (Ints{2, 5}));
  EXPECT_EQ(values_of(range(5, 0, -2)), (Ints{5, 3, 1}));
  EXPECT_EQ(values_of(range(0)), Ints{});
  EXPECT_THROW(range(0, 5, 0), Error);
}

TEST(Dataset, ZipEndsWithTheShortestAndKeepsNamesApart) {
  for (const Dataset& d : {range(3), stream(3)}) {
    Ints second;
    for (const Element& e : zip({d, range(100, 110)}))
      second.push_back(e["value_1"].item<int64_t>());
    EXPECT_EQ(second, (Ints{100, 101, 102}));
  }
}

TEST(Dataset, ConcatenateAndEnumerate) {
  EXPECT_EQ(values_of(range(2).concatenate(stream(2)).concatenate(range(5, 6))),
            (Ints{0, 1, 0, 1, 5}));
  for (const Dataset& d : {range(3), stream(3)}) {
    Ints numbers;
    for (const Element& e : d.enumerate(10)) numbers.push_back(e["index"].item<int64_t>());
    EXPECT_EQ(numbers, (Ints{10, 11, 12}));
  }
}

TEST(Dataset, FlatMapRunsThroughOneAfterTheOther) {
  EXPECT_EQ(values_of(range(4).flat_map(count_to)), (Ints{0, 0, 1, 0, 1, 2}));
}

// tf.data.Dataset.range(1, 6).interleave(..., cycle_length=2, block_length=4), from its own
// documentation.
TEST(Dataset, InterleaveTakesBlocksInTurnAsTensorFlowDoes) {
  const auto six_times = [](const Element& e) {
    return from_tensor_slices(e.only().reshaped({1})).repeat(6);
  };
  const Ints expected{1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 3, 3, 3,
                      3, 4, 4, 4, 4, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5};
  for (const bool parallel : {false, true}) {
    EXPECT_EQ(values_of(range(1, 6).interleave(
                  six_times, {.cycle_length = 2, .block_length = 4, .parallel = parallel})),
              expected);
  }
}

TEST(Dataset, InnerDatasetsDrawRandomNumbersOfTheirOwn) {
  const auto noisy = [](const Element&) {
    return range(2).random_map([](Element, Random& random) {
      return Element(Tensor::scalar<int64_t>(random.next_u32()));
    });
  };
  const Ints drawn = values_of(range(50).interleave(noisy));
  EXPECT_EQ(std::set<int64_t>(drawn.begin(), drawn.end()).size(), 100u);
}

TEST(Dataset, EveryRoundOfARepeatHasItsOwnOrderAndNumbers) {
  std::set<Ints> orders;
  const Dataset d = range(20).shuffle().repeat(2);
  for (int loop = 0; loop < 3; ++loop) {
    Ints order;
    for (const Element& e : d) order.push_back(e.only().item<int64_t>());
    orders.insert(Ints(order.begin(), order.begin() + 20));
    orders.insert(Ints(order.begin() + 20, order.end()));
  }
  EXPECT_EQ(orders.size(), 6u);
}

TEST(Dataset, HugeCountsAndNegativeOnesMeanWhatTheySay) {
  EXPECT_EQ(values_of(range(3).repeat(INT64_MAX).take(4)), (Ints{0, 1, 2, 0}));
  EXPECT_EQ(values_of(range(3).repeat().skip(-1)), Ints{});
  EXPECT_EQ(values_of(stream(3).repeat().skip(-1)), Ints{});
  EXPECT_EQ(range(3).batch(INT64_C(1) << 40).start().next()->only().dim(0), 3);
  EXPECT_EQ(values_of(range(3), -1), (Ints{0, 1, 2}));
}

TEST(Dataset, UnbatchUndoesBatch) {
  EXPECT_EQ(values_of(range(10).batch(4).unbatch()), values_of(range(10)));
}

TEST(Dataset, PaddedBatchPadsToTheLongest) {
  const Dataset rows = range(1, 4).map([](Element e) {
    const int64_t n = e.only().item<int64_t>();
    return Element(Tensor::vector<int64_t>(Ints(n, n)));
  });
  const Batch batch = *rows.padded_batch(3, {.padding_value = -1}).start().next();
  EXPECT_EQ(batch.only().shape(), Shape({3, 3}));
  EXPECT_TRUE(
      batch.only().same(Tensor::vector<int64_t>({1, -1, -1, 2, 2, -1, 3, 3, 3}).reshaped({3, 3})));
  const auto wide = rows.padded_batch(3, {.padded_shapes = {{"value", {5}}}});
  EXPECT_EQ(wide.start().next()->only().shape(), Shape({3, 5}));
  const auto narrow = rows.padded_batch(3, {.padded_shapes = {{"value", {2}}}});
  EXPECT_THROW(narrow.start().next(), Error);
}

TEST(Dataset, ShuffleOfAnIndexIsAPermutationThatChangesEachIteration) {
  const Dataset d = range(100).shuffle();
  Ints first, second;
  for (const Element& e : d) first.push_back(e.only().item<int64_t>());
  for (const Element& e : d) second.push_back(e.only().item<int64_t>());
  EXPECT_NE(first, second);
  EXPECT_EQ(std::set<int64_t>(first.begin(), first.end()).size(), 100u);
  EXPECT_EQ(values_of(range(100).shuffle()), values_of(range(100).shuffle()));
  EXPECT_NE(values_of(range(100).shuffle()), values_of(range(100).shuffle({.seed = 1})));
}

TEST(Dataset, AFixedShuffleIsTheSameEachIteration) {
  for (const Dataset& source : {range(50), stream(50)}) {
    const Ints twice = values_of(source.shuffle({.reshuffle_each_iteration = false}).repeat(2));
    EXPECT_EQ(Ints(twice.begin(), twice.begin() + 50), Ints(twice.begin() + 50, twice.end()));
  }
}

TEST(Dataset, AStreamsShuffleYieldsBeforeItIsFullAndLosesNothing) {
  auto pulled = std::make_shared<std::atomic<int64_t>>(0);
  const Dataset d = generator([pulled] {
                      return [pulled]() -> std::optional<Element> {
                        if (*pulled == 1000) return std::nullopt;
                        return Element(Tensor::scalar<int64_t>((*pulled)++));
                      };
                    }).shuffle({.buffer_size = 900, .minimum_fill = 10});
  Pipeline pipeline = d.with_options({.threads = 0}).start();
  std::set<int64_t> seen{pipeline.next()->only().item<int64_t>()};
  EXPECT_LE(pulled->load(), 12);
  while (auto e = pipeline.next()) seen.insert(e->only().item<int64_t>());
  EXPECT_EQ(seen.size(), 1000u);
}

TEST(Dataset, AStreamSortedByClassIsWarnedOf) {
  const auto said_of = [](int64_t classes) {
    std::string said;
    auto old = set_log_sink([&](LogLevel, const std::string& text) { said += text; });
    const Dataset sorted = range(1000).map([classes](Element e) {
      e.set("label", Tensor::scalar<int64_t>(e.only().item<int64_t>() * classes / 1000));
      return e;
    });
    sorted.filter([](const Element&) { return true; })
        .shuffle({.buffer_size = 200, .minimum_fill = 100})
        .start()
        .next();
    set_log_sink(old);
    return said;
  };
  EXPECT_NE(said_of(5).find("all have label 0"), std::string::npos);
  EXPECT_EQ(said_of(50), "");
}

// Where the first element of a stream ends up, over many shuffles, within a full buffer.
TEST(Dataset, AStreamsShuffleWithAFullBufferIsUniform) {
  std::vector<int64_t> counts(10 * 10);
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    const Dataset d = stream(10).shuffle({.buffer_size = 10, .minimum_fill = 10}).with_seed(seed);
    const Ints order = values_of(d, 0);
    for (size_t i = 0; i < 10; ++i) ++counts[10 * i + order[i]];
  }
  double chi = 0;
  for (int64_t c : counts) chi += (double(c) - 300) * (double(c) - 300) / 300;
  EXPECT_NEAR(chi, 81, 5 * std::sqrt(2 * 81.0));
}

TEST(Dataset, RandomAccessReachesThroughMapsShufflesAndBatches) {
  const Dataset d = range(100).shuffle().map([](int64_t x) { return x + 1; }).batch(8);
  std::vector<Element> all;
  for (const Batch& b : d) all.push_back(b);
  EXPECT_TRUE(d.has_random_access());
  for (size_t i = 0; i < all.size(); ++i) EXPECT_TRUE(d.at(i).same(all[i]));
  EXPECT_THROW(d.at(13), Error);
  EXPECT_FALSE(stream(5).has_random_access());
  EXPECT_THROW(stream(5).at(0), Error);
}

TEST(Dataset, CardinalityIsKnownInfiniteOrUnknown) {
  EXPECT_EQ(range(10).batch(3).cardinality(), 4);
  EXPECT_EQ(range(10).repeat().batch(3).cardinality(), kInfinite);
  EXPECT_EQ(range(10).repeat().take(5).cardinality(), 5);
  EXPECT_EQ(stream(10).cardinality(), kUnknown);
  EXPECT_EQ(zip({range(3), range(9).repeat()}).cardinality(), 3);
  EXPECT_EQ(range(10).shard(3, 0).cardinality(), 4);
}

TEST(Dataset, ReduceFolds) {
  const int64_t sum = range(101).reduce(
      int64_t{0}, [](int64_t total, const Element& e) { return total + e.only().item<int64_t>(); });
  EXPECT_EQ(sum, 5050);
}

TEST(Dataset, TensorSlicesShareTheUsersMemory) {
  std::array<float, 6> mine{1, 2, 3, 4, 5, 6};
  const Dataset d =
      from_tensor_slices({{"x", Tensor::view(DType::kFloat32, {3, 2}, mine.data(), nullptr)},
                          {"y", Tensor::vector<int64_t>({7, 8, 9})}});
  EXPECT_EQ(d.at(1)["x"].data(), &mine[2]);
  EXPECT_EQ(d.at(2)["y"].item<int64_t>(), 9);
  EXPECT_THROW(
      from_tensor_slices({{"x", Tensor::vector<float>({1})}, {"y", Tensor::vector<float>({1, 2})}}),
      Error);
  EXPECT_THROW(from_tensor_slices(Tensor::scalar<float>(1)), Error);
}

TEST(Dataset, AGeneratorStartsAnewEachIteration) {
  const Dataset d = generator([] {
    return [n = 0]() mutable -> std::optional<Element> {
      if (n == 3) return std::nullopt;
      return Element(Tensor::scalar<int64_t>(n++));
    };
  });
  EXPECT_EQ(values_of(d.repeat(2)), (Ints{0, 1, 2, 0, 1, 2}));
}

TEST(Dataset, RecordsParseIntoNamedTensors) {
  const TempFolder folder;
  const std::string path = folder.path("a.tfrecord");
  TFRecordWriter writer(path);
  ExampleWriter example;
  for (int64_t i = 0; i < 5; ++i) {
    const Ints tokens(i, i);
    writer.write(example.bytes("name", "n" + std::to_string(i))
                     .int64("label", i)
                     .int64("tokens", tokens)
                     .finish());
  }
  writer.close();
  const Dataset d = tfrecord(path).parse_example(
      {fixed_len("label", DType::kInt64), fixed_len("name", DType::kString),
       fixed_len("weight", DType::kFloat32, {}, Tensor::scalar<float>(1)),
       var_len("tokens", DType::kInt64)});
  EXPECT_EQ(d.cardinality(), 5);
  const Element e = d.at(3);
  EXPECT_EQ(e["name"].bytes(), "n3");
  EXPECT_EQ(e["weight"].item<float>(), 1);
  EXPECT_TRUE(e["tokens"].same(Tensor::vector<int64_t>({3, 3, 3})));
  const Batch batch = *d.padded_batch(5).start().next();
  EXPECT_EQ(batch["tokens"].shape(), Shape({5, 4}));
  EXPECT_EQ(batch["name"].values<std::string_view>()[4], "n4");
}

TEST(Dataset, DescribesItselfFromSourceToEnd) {
  EXPECT_EQ(range(5).shuffle({.seed = 3}).batch(2, {.drop_remainder = true}).describe(),
            "range(0, 5, 1)\nshuffle(seed 3)\nbatch(2, drop_remainder)\n");
}

}  // namespace
}  // namespace headway
