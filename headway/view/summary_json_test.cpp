#include "headway/view/summary_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "headway/core/error.h"
#include "headway/doctor/comparison.h"
#include "headway/doctor/diagnose.h"
#include "headway/trace/trace_file.h"
#include "headway/view/comparison_json.h"
#include "headway/view/json.h"

namespace headway {
namespace {

using Json = nlohmann::ordered_json;

struct Judged {
  RunSummary run;
  Json json;
};

Judged judged(const std::string& scenario) {
  const Trace trace = read_trace(std::string(SCENARIOS) + "/" + scenario);
  const std::vector<Finding> findings = diagnose(trace);
  const Verdict said = verdict(trace, findings);
  Judged out{summary_of(trace, said, findings), json_of(said, findings)};
  out.json["ledger"] = json_of(ledger_of(trace));
  out.json["run"] = json_of(out.run);
  return out;
}

nlohmann::json parsed(const Json& json) { return nlohmann::json::parse(json.dump()); }

TEST(SummaryJson, OfEveryScenarioComesBackAsItWas) {
  size_t count = 0;
  for (const auto& file : std::filesystem::directory_iterator(SCENARIOS)) {
    if (file.path().extension() != ".trace") continue;
    const Judged before = judged(file.path().filename());
    const RunSummary after = summary_from(parsed(before.json));
    if (!is_comparable(before.run)) continue;
    const Comparison c = compare(before.run, after);
    EXPECT_FALSE(c.differs()) << file.path() << ": " << headline(c);
    EXPECT_TRUE(c.settings.empty() && c.went.empty() && c.came.empty()) << file.path();
    EXPECT_EQ(json_of(after)["accounts"], before.json["run"]["accounts"]) << file.path();
    ++count;
  }
  EXPECT_GT(count, 100u);
}

TEST(SummaryJson, OfAnOlderVersionHasTheAccountsOfTheLedgerAndNoSpeed) {
  Judged old = judged("serial-map.trace");
  old.json.erase("run");
  const RunSummary run = summary_from(parsed(old.json));
  EXPECT_FALSE(run.steps_per_s);
  ASSERT_EQ(run.accounts.size(), old.run.accounts.size());
  EXPECT_EQ(run.accounts[0].account, old.run.accounts[0].account);
  EXPECT_NEAR(run.accounts[0].time.share, old.run.accounts[0].time.share, 1e-9);
}

TEST(SummaryJson, AnUnknownBoundIsNullAndComesBackInfinite) {
  Judged one = judged("serial-map.trace");
  one.run.steps_per_s = Estimate{5, 0, HUGE_VAL};
  one.json["run"] = json_of(one.run);
  EXPECT_TRUE(one.json["run"]["steps_per_s"]["high"].is_null());
  EXPECT_TRUE(std::isinf(summary_from(parsed(one.json)).steps_per_s->high));
}

TEST(SummaryJson, NumbersThatAreNoneProveNothing) {
  const Judged good = judged("serial-map.trace");
  for (const Json& bad : {Json(), Json(-3), Json(0)}) {
    Json json = good.json;
    json["run"]["steps_per_s"]["value"] = bad;
    const Comparison c = compare(good.run, summary_from(parsed(json)));
    EXPECT_FALSE(c.speed) << bad;
    EXPECT_NE(headline(c), "") << bad;
  }
  Json json = good.json;
  for (Json& account : json["run"]["accounts"])
    account["share"] = nullptr, account["s_per_step"] = nullptr;
  EXPECT_FALSE(compare(good.run, summary_from(parsed(json))).differs());
}

TEST(SummaryJson, WhatIsNoVerdictIsRefusedByItsField) {
  const auto refusal = [](const char* text) {
    try {
      summary_from(nlohmann::json::parse(text));
    } catch (const Error& e) {
      return e.problem();
    }
    return std::string();
  };
  EXPECT_NE(refusal(R"({"verdict": "splendid", "sentence": "", "findings": []})").find("splendid"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"verdict": "slow", "findings": []})").find("sentence"), std::string::npos);
  EXPECT_NE(refusal(R"({"verdict": "slow", "sentence": "", "findings": 3})").find("findings"),
            std::string::npos);
  EXPECT_NE(refusal(R"([1, 2])"), "");
}

TEST(ComparisonJson, SaysWhatTheHeadlineSays) {
  const Comparison c =
      compare(judged("serial-map.trace").run, judged("healthy-serial-but-fast.trace").run);
  const Json json = json_of(c);
  EXPECT_EQ(json["sentence"], headline(c));
  EXPECT_EQ(json["worse"].empty(), c.worse.empty());
  EXPECT_EQ(json["accounts"].size(), c.accounts.size());
  EXPECT_DOUBLE_EQ(json["speed"]["ratio"]["value"], c.speed->ratio.value);
}

}  // namespace
}  // namespace headway
