#include <gtest/gtest.h>

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

// The order has no cycles: a cause that brings about another never results from it.
TEST(Table, PutsRootsBeforeWhatTheyBringAbout) {
  for (const CauseRule& root : all_rules())
    for (const Cause symptom : root.brings_about)
      for (const Cause back : rule_of(symptom)->brings_about)
        EXPECT_NE(back, root.cause) << text_of(root.cause) << " and " << text_of(symptom);
}

}  // namespace
}  // namespace headway
