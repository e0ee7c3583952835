// Every recorded or simulated trace in tests/scenarios: its name says what must be found in it.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "headway/doctor/diagnose.h"
#include "headway/doctor/rules/rules.h"
#include "headway/trace/trace_file.h"

namespace headway {
namespace {

// "serial-map.2.trace" -> "serial-map"; names that begin with "healthy" expect no warning.
std::string expected(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  return name.substr(0, name.find('.'));
}

TEST(Scenarios, AreJudgedAsTheirNamesSay) {
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SCENARIOS)) {
    if (entry.path().extension() != ".trace") continue;
    const std::vector<Finding> findings = diagnose(read_trace(entry.path().string()));
    const bool found = !findings.empty() && findings[0].severity >= Severity::kWarning;
    const std::string cause = expected(entry.path());
    EXPECT_EQ(found ? findings[0].id() : "healthy",
              cause.starts_with("healthy") ? "healthy" : cause)
        << entry.path().filename();
    ++seen;
  }
  EXPECT_GT(seen, 0);
}

// A rule that fires in no scenario is untested; one that is not silent in any healthy run, seen by
// the same eye, would report a cause for every run.
TEST(Scenarios, ShowEachRuleFiringAndSilent) {
  std::map<Cause, std::set<bool>> fires, silent;  // by eye: outside or inside
  for (const auto& entry : std::filesystem::directory_iterator(SCENARIOS)) {
    if (entry.path().extension() != ".trace") continue;
    const Trace trace = read_trace(entry.path().string());
    const Observations o(trace);
    for (const Finding& finding : diagnose(trace)) fires[finding.cause].insert(trace.outside.seen);
    const bool healthy = expected(entry.path()).starts_with("healthy");
    for (const CauseRule& rule : all_rules()) {
      const bool fired = rule.rule(o).has_value();
      if (fired) fires[rule.cause].insert(trace.outside.seen);
      if (!fired && healthy) silent[rule.cause].insert(trace.outside.seen);
    }
  }
  for (const CauseRule& rule : all_rules()) {
    const std::string_view id = text_of(rule.cause);
    EXPECT_FALSE(fires[rule.cause].empty()) << id << " fires in no scenario";
    for (const bool outside : fires[rule.cause])
      EXPECT_TRUE(silent[rule.cause].count(outside)) << id << " is never silent";
  }
}

}  // namespace
}  // namespace headway
