#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "headway/view/json.h"
#include "headway/view/terminal.h"

namespace headway {
namespace {

const Finding kFinding{.cause = Cause::kSerialMap,
                       .severity = Severity::kHigh,
                       .confidence = 0.9,
                       .summary = "one worker makes all samples",
                       .evidence = {"58% waits", "100 ms per batch"},
                       .where = "slow(serial)",
                       .fix = "leave num_parallel_calls out",
                       .predicted_gain = 2.46};

TEST(Terminal, ShowsAFindingAsInTheHandbook) {
  EXPECT_EQ(finding_text(kFinding),
            "high (90% sure): one worker makes all samples\n"
            "  where     slow(serial)\n"
            "  evidence  58% waits\n"
            "            100 ms per batch\n"
            "  fix       leave num_parallel_calls out\n"
            "  gain      about 2.5x as fast\n"
            "  more      docs/causes/serial-map.md\n");
}

TEST(Terminal, BreaksLongLines) {
  Finding finding = kFinding;
  finding.fix = std::string(60, 'a') + " " + std::string(60, 'b');
  EXPECT_NE(finding_text(finding).find("a\n            b"), std::string::npos);
}

TEST(Json, HoldsWhatMachinesAreToldItHolds) {
  const auto json = json_of(Verdict{.state = State::kSlow, .sentence = "slow: x"}, {kFinding});
  EXPECT_EQ(json["verdict"], "slow");
  EXPECT_TRUE(json["eta_s"].is_null());
  const auto& finding = json["findings"].at(0);
  std::string keys;
  for (const auto& [key, value] : finding.items()) keys += key + " ";
  EXPECT_EQ(keys, "cause severity confidence summary evidence where fix predicted_gain page ");
  EXPECT_EQ(finding["severity"], "high");
  EXPECT_EQ(finding["evidence"].at(1), "100 ms per batch");
  EXPECT_EQ(finding["predicted_gain"], 2.46);
  EXPECT_EQ(finding["page"], "docs/causes/serial-map.md");
}

}  // namespace
}  // namespace headway
