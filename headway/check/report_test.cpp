#include "headway/check/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace headway {
namespace {

const CheckLines kLines = {
    {"cores", CheckTopic::kCores, Fit::kWrong, "1 of 8\x1b[2J cores", "slow", "widen it",
     "single-core-affinity"},
    {"perf", CheckTopic::kWatching, Fit::kNotSeen, "no idea", "unknown", "ask", ""},
    {"memory", CheckTopic::kMemory, Fit::kGood, "64 GB", "", "", ""},
};

TEST(CheckReport, WhatIsWrongComesWithReasonRemedyAndPage) {
  EXPECT_EQ(check_text(kLines),
            "this machine does not fit: 1 wrong, 1 not seen\n"
            "\n"
            "wrong: 1 of 8\\x1b[2J cores\n"
            "  why       slow\n"
            "  remedy    widen it\n"
            "  more      docs/causes/single-core-affinity.md\n"
            "\n"
            "not seen: no idea\n"
            "  why       unknown\n"
            "  remedy    ask\n"
            "\n"
            "good:\n"
            "  memory    64 GB\n");
}

TEST(CheckReport, TheSameNumbersStandInTheJson) {
  const nlohmann::ordered_json json = check_json(kLines, {});
  EXPECT_EQ(json["fits"], false);
  EXPECT_EQ(json["sentence"], "this machine does not fit: 1 wrong, 1 not seen");
  EXPECT_EQ(json["wrong"], 1);
  EXPECT_EQ(json["not_seen"], 1);
  EXPECT_EQ(json["lines"][0]["page"], "docs/causes/single-core-affinity.md");
  EXPECT_EQ(json["lines"][1]["page"], nullptr);
  EXPECT_EQ(json["lines"][1]["fit"], "not-seen");
}

TEST(CheckReport, WhatIsNotKnownIsNull) {
  const nlohmann::ordered_json json = check_json({}, {});
  EXPECT_EQ(json["fits"], true);
  EXPECT_EQ(json["gpu"]["driver"], nullptr);
  EXPECT_EQ(json["memory"]["limit_bytes"], nullptr);
  EXPECT_EQ(json["disk"]["small_reads_per_s"], nullptr);
}

}  // namespace
}  // namespace headway
