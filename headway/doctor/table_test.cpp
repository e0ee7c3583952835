#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "headway/doctor/rules/rules.h"

namespace headway {
namespace {

TEST(Table, HasEveryCauseInOneRuleAndEachAPage) {
  std::set<Cause> seen;
  for (const CauseRule& rule : all_rules()) {
    const std::string id(text_of(rule.cause));
    EXPECT_TRUE(seen.insert(rule.cause).second) << id << " has two rules";
    EXPECT_TRUE(std::filesystem::exists(std::string(PAGES) + "/" + id + ".md"))
        << id << " has no page";
  }
  for (size_t i = 1; i < std::size(Texts<Cause>::all); ++i)
    EXPECT_TRUE(seen.count(static_cast<Cause>(i))) << Texts<Cause>::all[i] << " has no rule";
}

// Does the cause bring this about, at once or by way of others?
bool leads_to(Cause cause, Cause symptom, std::set<Cause>& seen) {
  if (!seen.insert(cause).second) return false;
  const auto next = rule_of(cause)->brings_about;
  return std::any_of(next.begin(), next.end(),
                     [&](Cause each) { return each == symptom || leads_to(each, symptom, seen); });
}

TEST(Table, HasNoCauseThatBringsAboutItself) {
  for (const CauseRule& rule : all_rules()) {
    std::set<Cause> seen;
    EXPECT_FALSE(leads_to(rule.cause, rule.cause, seen)) << text_of(rule.cause);
  }
}

TEST(Table, OfEquallySevereFindingsACauseIsSaidBeforeWhatItBringsAbout) {
  std::vector<Finding> found = {{.cause = Cause::kSlowCallback, .severity = Severity::kWarning},
                                {.cause = Cause::kMemoryLimit, .severity = Severity::kHigh},
                                {.cause = Cause::kHostMemoryPressure, .severity = Severity::kHigh},
                                {.cause = Cause::kHostMemoryLeak, .severity = Severity::kHigh}};
  put_in_order(found);
  EXPECT_EQ(found[0].cause, Cause::kHostMemoryLeak);
  EXPECT_EQ(found[1].cause, Cause::kMemoryLimit);
  EXPECT_EQ(found[3].cause, Cause::kSlowCallback);
}

TEST(Table, NamesStandInTheOrderOfTheAlphabetAsTheirCausesDo) {
  EXPECT_TRUE(std::is_sorted(std::begin(Texts<Cause>::all) + 1, std::end(Texts<Cause>::all)));
}

}  // namespace
}  // namespace headway
