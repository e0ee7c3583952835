#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>
#include <system_error>

#include "headway/core/log.h"
#include "headway/core/resource_error.h"
#include "headway/data/dataset.h"
#include "headway/data/skip_log.h"
#include "headway/io/bytes/temp_folder.h"
#include "headway/io/images/jpeg.h"
#include "headway/io/images/png.h"
#include "headway/io/records/tfrecord_writer.h"

namespace headway {
namespace {

std::string image_bytes(int height, int width) {
  std::vector<uint8_t> pixels(3 * height * width);
  std::iota(pixels.begin(), pixels.end(), uint8_t{0});
  const auto encoded = encode_png(pixels.data(), DType::kUInt8, height, width, 3, 3 * width);
  return std::string(encoded.begin(), encoded.end());
}

// The error that running the dataset ends in.
Error error_of(const Dataset& dataset) {
  Pipeline pipeline = dataset.with_options({.threads = 2}).start();
  try {
    while (pipeline.next()) {
    }
  } catch (const Error& e) {
    EXPECT_FALSE(pipeline.next()) << "it goes on after the error";
    return e;
  }
  return Error("no error at all");
}

void expect_error(const Error& e, const std::string& problem_part) {
  EXPECT_NE(e.problem().find(problem_part), std::string::npos) << e.what();
  EXPECT_FALSE(e.hint().empty()) << e.what();
}

std::string write_records(const TempFolder& folder, const std::string& name, int count) {
  const std::string path = folder.path(name);
  TFRecordWriter writer(path);
  for (int i = 0; i < count; ++i) writer.write("record number " + std::to_string(i));
  writer.close();
  return path;
}

int64_t not_a_seventh(int64_t x) {
  if (x % 7 == 3) throw std::runtime_error("a seventh: " + std::to_string(x));
  return x;
}

TEST(Failure, ATruncatedTFRecordNamesFileAndByte) {
  const TempFolder folder;
  const std::string path = write_records(folder, "a.tfrecord", 3);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 5);
  const Error e = error_of(tfrecord(path).batch(1));
  expect_error(e, "a.tfrecord at byte 62");
}

TEST(Failure, AWrongCrcNamesFileAndByte) {
  const TempFolder folder;
  const std::string path = write_records(folder, "a.tfrecord", 3);
  std::string bytes = folder.read("a.tfrecord");
  bytes[31 + 12] ^= 1;
  folder.write("a.tfrecord", bytes);
  for (const bool index : {true, false}) {
    expect_error(error_of(tfrecord(path, {.index = index}).batch(1)), "a.tfrecord at byte 31");
  }
}

TEST(Failure, AFolderWhereAFileShouldBeAndAMissingFile) {
  const TempFolder folder;
  std::filesystem::create_directory(folder.path("b.jpg"));
  expect_error(error_of(files(std::vector{folder.path("b.jpg")}).decode_image()), "b.jpg");
  expect_error(error_of(files(std::vector{folder.path("c.jpg")}).decode_image()), "c.jpg");
  EXPECT_THROW(tfrecord(std::vector{folder.path("none.tfrecord")}), Error);
}

TEST(Failure, AnEmptyGlobSaysWhereItLooked) {
  const TempFolder folder;
  try {
    files(folder.path("photos/*.jpg"));
    FAIL();
  } catch (const Error& e) {
    expect_error(e, "photos/*.jpg");
  }
  EXPECT_THROW(image_folder(folder.path("nowhere")), Error);
  EXPECT_THROW(image_folder(folder.path()), Error);
}

TEST(Failure, AFileDeletedMidEpochIsNamed) {
  const TempFolder folder;
  std::vector<std::string> paths;
  for (int i = 0; i < 64; ++i)
    paths.push_back(folder.write(std::to_string(i) + ".png", image_bytes(4, 4)));
  Pipeline pipeline =
      files(paths).decode_image().batch(2).prefetch(1).with_options({.threads = 1}).start();
  ASSERT_TRUE(pipeline.next());
  std::filesystem::remove(paths[60]);
  try {
    while (pipeline.next()) {
    }
    FAIL();
  } catch (const Error& e) {
    expect_error(e, "60.png");
  }
}

TEST(Failure, ImagesOfDifferentSizesInOneBatchAskForAResize) {
  const TempFolder folder;
  const std::vector<std::string> paths{folder.write("a.png", image_bytes(4, 4)),
                                       folder.write("b.png", image_bytes(4, 5))};
  const Error e = error_of(files(paths).decode_image().batch(2));
  expect_error(e, "batch: 'image' of sample");
  EXPECT_NE(e.hint().find("resize"), std::string::npos);
  EXPECT_EQ(
      error_of(files(paths).decode_image().resize({.height = 3, .width = 3}).batch(2)).problem(),
      "no error at all");
}

TEST(Failure, ABrokenImageIsNamedWithItsOperator) {
  const TempFolder folder;
  const std::string path = folder.write("broken.png", image_bytes(40, 40).substr(0, 100));
  const Error e = error_of(files(std::vector{path}).decode_image());
  expect_error(e, "broken.png");
  EXPECT_NE(e.problem().find("decode"), std::string::npos) << e.what();
}

TEST(Failure, AUserFunctionThatThrowsNamesTheFileAtHand) {
  const TempFolder folder;
  const std::string path = folder.write("a.png", image_bytes(4, 4));
  const Dataset decoded = files(std::vector{path}).decode_image();
  const auto fail = [](Element e) -> Element {
    throw std::runtime_error("cannot use " + e["image"].shape().str());
  };
  for (const Dataset& d : {decoded.map(fail), decoded.map(fail, {.num_parallel_calls = 1}),
                           decoded.map(fail).cache()}) {
    EXPECT_NE(error_of(d).problem().find("a.png: map: cannot use 4x4x3"), std::string::npos)
        << error_of(d).what();
  }
}

TEST(Failure, StreamsThatSkipCannotBeZipped) {
  const Dataset stream = range(9).filter([](int64_t) { return true; });
  const Dataset skipping =
      zip({stream, range(9)}).with_options({.errors = ErrorPolicy::skip_up_to(1)});
  EXPECT_THROW(skipping.start(), Error);
}

TEST(Failure, PaddedBatchesSkipABadSampleCleanly) {
  for (const std::optional<int64_t> calls : {std::optional<int64_t>(1), std::optional<int64_t>()}) {
    const Dataset d = range(14).map(not_a_seventh, {.num_parallel_calls = calls}).padded_batch(4);
    std::vector<int64_t> sizes;
    for (const Batch& b : d.with_options({.errors = ErrorPolicy::skip_up_to(5)}))
      sizes.push_back(b.only().dim(0));
    EXPECT_EQ(sizes, (std::vector<int64_t>{4, 4, 4}));
  }
}

TEST(Failure, WhatIsNoBadSampleIsNotSkipped) {
  const Dataset d =
      range(100)
          .map([](Element) { return Element(Tensor::empty(DType::kUInt8, {1 << 20})); })
          .cache();
  const Dataset skipping =
      d.with_options({.ram_budget_bytes = 20 << 20, .errors = ErrorPolicy::skip_up_to(1000)});
  expect_error(error_of(skipping), "does not fit into the RAM budget");
}

// Runs a map that throws `error` for one of ten samples while a hundred may be skipped.
template <typename Exception>
Error error_of_map_throwing(const Exception& error) {
  const Dataset d = range(10).map([error](int64_t x) {
    if (x == 5) throw error;
    return x;
  });
  return error_of(d.with_options({.errors = ErrorPolicy::skip_up_to(100)}));
}

TEST(Failure, OnlyWhatIsAboutTheDataIsSkipped) {
  for (const auto& skipped :
       {error_of_map_throwing(std::runtime_error("bad")),
        error_of_map_throwing(SampleError({}, "bad")),
        error_of_map_throwing(std::system_error(ENOENT, std::system_category()))}) {
    EXPECT_EQ(skipped.problem(), "no error at all");
  }
  for (const auto& told :
       {error_of_map_throwing(std::bad_alloc()), error_of_map_throwing(std::logic_error("wrong")),
        error_of_map_throwing(std::out_of_range("wrong")), error_of_map_throwing(Error("x", "y")),
        error_of_map_throwing(ResourceError("x", "y")), error_of_map_throwing(std::exception()),
        error_of_map_throwing(42),
        error_of_map_throwing(std::system_error(ENOSPC, std::system_category())),
        error_of_map_throwing(std::system_error(EMFILE, std::generic_category()))}) {
    expect_error(told, "map: ");
  }
}

TEST(Failure, AWantOfMemoryNamesTheLimitAndNoInnocentFile) {
  const TempFolder folder;
  const std::string path = folder.write("innocent.png", image_bytes(4, 4));
  const Dataset d = files(std::vector{path}).decode_image().map([](Element) -> Element {
    throw std::bad_alloc();
  });
  const Error e = error_of(d);
  expect_error(e, "map: out of memory");
  EXPECT_EQ(e.problem().find("innocent"), std::string::npos) << e.what();
}

TEST(Failure, RepeatingNothingIsAnErrorNotALoop) {
  expect_error(error_of(range(10).filter([](int64_t) { return false; }).repeat()), "repeat");
  expect_error(error_of(generator([] { return [] { return std::optional<Element>(); }; }).repeat()),
               "repeat");
}

TEST(Failure, AGeneratorThatThrowsReachesTheConsumer) {
  const Dataset d = generator([]() -> std::function<std::optional<Element>()> {
    return []() -> std::optional<Element> { throw std::runtime_error("no more luck"); };
  });
  EXPECT_EQ(error_of(d.batch(2)).problem(), "generator: no more luck");
}

TEST(Failure, SkippingCountsFillsBatchesAndWritesASkipLog) {
  const TempFolder folder;
  const std::string skip_log_path = folder.path("skipped.jsonl");
  const Dataset d = range(70).map(not_a_seventh).batch(10);
  for (int threads : {1, 4}) {
    std::filesystem::remove(skip_log_path);
    Pipeline pipeline =
        d.with_options({.threads = threads, .errors = ErrorPolicy::skip_up_to(10, skip_log_path)})
            .start();
    int64_t batches = 0;
    while (auto batch = pipeline.next()) {
      EXPECT_EQ(batch->only().dim(0), 10);
      ++batches;
    }
    EXPECT_EQ(batches, 6);
    EXPECT_EQ(pipeline.stats().skipped, 10);
    const auto entries = SkipLog::read(skip_log_path);
    ASSERT_EQ(entries.size(), 10u);
    EXPECT_EQ(entries[1].reason, "map: a seventh: 10");  // in the order of the data
  }
  EXPECT_EQ(skip_log(skip_log_path).at(0)["reason"].bytes(), "map: a seventh: 3");
}

TEST(Failure, ASpentBudgetEndsTheRun) {
  const Dataset d = range(700).map(not_a_seventh);
  const Error by_count = error_of(d.with_options({.errors = ErrorPolicy::skip_up_to(3)}));
  expect_error(by_count, "4 of 25 samples were bad");
  const Error by_rate = error_of(d.with_options({.errors = ErrorPolicy::skip_rate(0.1)}));
  expect_error(by_rate, "samples were bad");
  EXPECT_EQ(error_of(d.with_options({.errors = ErrorPolicy::skip_rate(0.2)})).problem(),
            "no error at all");
}

TEST(Failure, SkippingADamagedRecordGoesOnBehindIt) {
  const TempFolder folder;
  const std::string path = write_records(folder, "a.tfrecord", 5);
  std::string bytes = folder.read("a.tfrecord");
  bytes[2 * 31 + 12] ^= 1;
  folder.write("a.tfrecord", bytes);
  const std::string skip_log_path = folder.path("skipped.jsonl");
  for (const bool index : {true, false}) {
    std::filesystem::remove(skip_log_path);
    const Dataset d =
        tfrecord(path, {.index = index})
            .batch(2)
            .with_options({.threads = 2, .errors = ErrorPolicy::skip_up_to(1, skip_log_path)});
    std::vector<std::string> got;
    for (const Batch& b : d) {
      for (std::string_view s : b.only().values<std::string_view>()) got.emplace_back(s);
    }
    EXPECT_EQ(got, (std::vector<std::string>{"record number 0", "record number 1",
                                             "record number 3", "record number 4"}));
    ASSERT_EQ(SkipLog::read(skip_log_path).size(), 1u);
    EXPECT_EQ(SkipLog::read(skip_log_path)[0].offset, 62);
  }
}

TEST(Failure, TheSkipLogLeavesOutAHalfWrittenLine) {
  const TempFolder folder;
  const std::string path =
      folder.write("l.jsonl", "{\"file\":\"a\",\"offset\":1,\"reason\":\"r\"}\n{\"file\":\"b");
  EXPECT_EQ(SkipLog::read(path).size(), 1u);
}

TEST(Failure, AnImageBeyondTheBudgetIsNamedWithTheArithmetic) {
  const TempFolder folder;
  const std::string path = folder.write("large.png", image_bytes(1500, 2000));
  const Dataset d = files(std::vector{path}).decode_image();
  expect_error(error_of(d.with_options({.ram_budget_bytes = 4 << 20})),
               "large.png: decode: an image of 1500 x 2000 pixels of 3 x 1 bytes takes 8 MB, more "
               "than the RAM budget of 4");
  EXPECT_EQ(
      error_of(d.resize({.height = 10, .width = 10}).with_options({.ram_budget_bytes = 4 << 20}))
          .problem(),
      "no error at all");
}

TEST(Failure, ACacheBeyondTheBudgetSaysWhatToDo) {
  const Dataset d =
      range(100)
          .map([](Element) { return Element(Tensor::empty(DType::kUInt8, {1 << 20})); })
          .cache();
  expect_error(error_of(d.with_options({.ram_budget_bytes = 20 << 20})),
               "does not fit into the RAM budget");
}

TEST(Failure, AShuffleBeyondTheBudgetShrinksAndSaysSo) {
  std::string said;
  auto old = set_log_sink([&](LogLevel, const std::string& text) { said += text; });
  const Dataset d =
      range(100)
          .map([](Element) { return Element(Tensor::empty(DType::kUInt8, {1 << 20})); })
          .filter([](const Element&) { return true; })
          .shuffle(80);
  Pipeline pipeline = d.with_options({.threads = 1, .ram_budget_bytes = 30 << 20}).start();
  int64_t count = 0;
  while (pipeline.next()) ++count;
  set_log_sink(old);
  EXPECT_EQ(count, 100);
  EXPECT_NE(said.find("shuffle:"), std::string::npos);
}

TEST(Failure, WhatIsNoSkipLogIsRefusedByItsLine) {
  const TempFolder folder;
  const std::string good = R"({"file":"a","offset":1,"reason":"r"})";
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  for (const std::string& bad : {std::string("[]"), std::string("7"), std::string(R"({"file":[]})"),
                                 std::string(R"({"file":"a","offset":"x"})"), deep}) {
    folder.write("skip_log", good + "\n" + bad + "\n");
    try {
      SkipLog::read(folder.path("skip_log"));
      ADD_FAILURE() << bad.substr(0, 40);
    } catch (const Error& e) {
      EXPECT_NE(e.problem().find("skip_log:2: "), std::string::npos) << e.what();
      EXPECT_EQ(e.problem().find("json.exception"), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace headway
