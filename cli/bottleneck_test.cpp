#include "cli/bottleneck.h"

#include <gtest/gtest.h>

namespace headway::cli {
namespace {

constexpr Limits kTwoCores{.cpus = 2, .memory_bytes = 1 << 30, .cpu_source = {}};

// Two workers for ten seconds, `working_s` of it in decode.
PipelineStats decoding_for(double working_s, double elsewhere_s = 0) {
  PipelineStats stats;
  stats.threads = 2;
  stats.running_s = 10;
  stats.elsewhere_s = elsewhere_s;
  StageStats& stage = stats.stages.emplace_back();
  stage.name = "decode+batch";
  stage.busy_s = working_s;
  stage.ops.push_back({"decode", working_s * 1e9});
  return stats;
}

TEST(Bottleneck, IsTheCpuWhenTheCoresAreFull) {
  const Bottleneck found =
      find_bottleneck(decoding_for(19.5), {.wall_s = 10, .cpu_s = 19}, kTwoCores);
  EXPECT_EQ(found.kind, "cpu");
  EXPECT_NE(found.text.find("100% of it in decode"), std::string::npos) << found.text;
}

TEST(Bottleneck, IsTheNeighboursWhenReadyWorkersGetNoCore) {
  const Usage used{.wall_s = 10, .cpu_s = 10, .core_wait_s = 9};
  EXPECT_EQ(find_bottleneck(decoding_for(19.5), used, kTwoCores).kind, "cores");
}

TEST(Bottleneck, IsStorageWhenWorkersNeitherRunNorWaitForACore) {
  EXPECT_EQ(find_bottleneck(decoding_for(19.5), {.wall_s = 10, .cpu_s = 3}, kTwoCores).kind,
            "blocked");
}

TEST(Bottleneck, IsTheConsumerWhenItSpendsTheTimeElsewhere) {
  EXPECT_EQ(find_bottleneck(decoding_for(4, 9), {.wall_s = 10, .cpu_s = 4}, kTwoCores).kind,
            "consumer");
}

TEST(Bottleneck, CountsOnlyWhatHappenedSinceTheFirstLook) {
  const PipelineStats later = decoding_for(8), earlier = decoding_for(3);
  EXPECT_DOUBLE_EQ(working_s(since(later, earlier)), 5);
}

}  // namespace
}  // namespace headway::cli
