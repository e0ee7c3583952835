// Every recorded or simulated trace in tests/scenarios: its name says what must be found in it.
#include <gtest/gtest.h>

#include <filesystem>

#include "headway/doctor/diagnose.h"
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

}  // namespace
}  // namespace headway
