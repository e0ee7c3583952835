#include "headway/data/pixel_room.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "headway/data/dataset.h"
#include "headway/io/bytes/temp_folder.h"
#include "headway/io/images/png.h"

namespace headway {
namespace {

constexpr int kSide = 640;  // 1.2 MB as RGB
constexpr int64_t kImageBytes = int64_t{3} * kSide * kSide;

// Twelve images, each of one colour: its number.
class LargeImages : public testing::Test {
 protected:
  LargeImages() {
    for (int i = 0; i < 12; ++i) {
      const std::vector<uint8_t> pixels(kImageBytes, uint8_t(i));
      const auto file = encode_png(pixels.data(), DType::kUInt8, kSide, kSide, 3, 3 * kSide, 1);
      paths_.push_back(
          folder_.write(std::to_string(10 + i) + ".png", std::string(file.begin(), file.end())));
    }
  }
  Dataset images() const { return files(paths_).decode_image(); }

  // The colours of all images in the order in which they come, one number per image.
  static std::vector<int> colours(Pipeline& pipeline) {
    std::vector<int> out;
    while (const auto element = pipeline.next()) {
      const Tensor& images = (*element)["image"];
      const auto values = images.values<uint8_t>();
      for (size_t at = 0; at < values.size(); at += kImageBytes) {
        EXPECT_EQ(values[at], values[at + kImageBytes - 1]);
        out.push_back(values[at]);
      }
    }
    return out;
  }
  TempFolder folder_;
  std::vector<std::string> paths_;
};

// Whatever stands behind it, however few workers there are and however small the budget is: none is
// lost, none comes twice, the order stays, and nothing waits for ever.
TEST_F(LargeImages, AllArriveInOrderThroughAnyPipeline) {
  const auto same = [](Element e) { return e; };
  const auto all = [](const Element&) { return true; };
  const Dataset plain = images();
  const std::vector<Dataset> datasets = {
      plain,
      plain.batch(1),
      plain.batch(5),
      plain.map(same).filter(all).batch(2),
      plain.filter(all).prefetch(3).batch(3).unbatch(),
      plain.flip_left_right().brightness(0).batch(2),
      plain.map(same, {.num_parallel_calls = 1}).batch(4),
      files(paths_).filter(all).decode_image().batch(2),
      plain.with_options({.errors = ErrorPolicy::skip_up_to(1)}).batch(2),
  };
  const std::vector<int> expected = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  for (const Dataset& dataset : datasets) {
    for (const int threads : {1, 4}) {
      for (const int64_t images_in_budget : {1, 2, 100}) {
        const int64_t budget = images_in_budget * (3 * kImageBytes);
        Pipeline pipeline =
            dataset.with_options({.threads = threads, .ram_budget_bytes = budget}).start();
        EXPECT_EQ(colours(pipeline), expected) << dataset.describe() << threads << " threads";
        EXPECT_EQ(pipeline.stats().ram_used_bytes, 0) << dataset.describe();
      }
    }
  }
}

TEST_F(LargeImages, HoldNoMoreThanTheBudgetAndOneThatIsWaitedFor) {
  for (const int threads : {1, 8}) {
    Pipeline pipeline =
        images().with_options({.threads = threads, .ram_budget_bytes = 3 * kImageBytes}).start();
    EXPECT_EQ(colours(pipeline).size(), 12u);
    EXPECT_LE(pipeline.stats().ram_peak_bytes, 4 * kImageBytes);
  }
}

// A stage in front asks for them again and again: that alone must wake no worker.
TEST_F(LargeImages, ThatWaitForMemoryKeepNoWorkerBusy) {
  const Dataset kept = images().filter([](const Element&) { return true; });
  const Dataset unordered = images().map([](Element e) { return e; }, {.ordered = false});
  for (int i = 0; i < 5; ++i) {
    for (const Dataset& dataset : {kept.batch(2), kept.batch(4), unordered.batch(3)}) {
      for (const int64_t budget : {kImageBytes, 2 * kImageBytes, 3 * kImageBytes}) {
        Pipeline pipeline =
            dataset.with_options({.threads = 8, .ram_budget_bytes = budget}).start();
        EXPECT_EQ(colours(pipeline).size(), 12u);
        for (const StageReading& stage : pipeline.stats().done)
          EXPECT_LT(stage.waits_for_input, 2000) << dataset.describe();
      }
    }
  }
}

TEST_F(LargeImages, ComeInAnyOrderWhereThatIsAllowed) {
  Pipeline pipeline = images()
                          .map([](Element e) { return e; }, {.ordered = false})
                          .with_options({.threads = 4, .ram_budget_bytes = 3 * kImageBytes})
                          .start();
  std::vector<int> got = colours(pipeline);
  std::sort(got.begin(), got.end());
  EXPECT_EQ(got, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST_F(LargeImages, APipelineLeftWhileSomeWaitEndsAndGivesBackItsMemory) {
  for (int i = 0; i < 20; ++i) {
    Pipeline pipeline =
        images().with_options({.threads = 4, .ram_budget_bytes = 2 * kImageBytes}).start();
    EXPECT_TRUE(pipeline.next());
  }
}

}  // namespace
}  // namespace headway
