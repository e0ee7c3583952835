// Chapter 6 of the guide: a rule that names a run which skips many of its samples.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "headway/doctor/observations.h"
#include "headway/doctor/simulate.h"

namespace headway {
namespace {

constexpr double kFewSkipped = 0.01, kManySkipped = 0.05;  // share of the samples

std::optional<Finding> samples_skipped(const Observations& o) {
  const Evidence* run = o.inside();
  if (!run || !run->steady()) return std::nullopt;
  const double skipped = double(run->last.skipped - run->first.skipped);
  const double trained = double(run->last.samples - run->first.samples);
  const double share = skipped / (skipped + trained);
  if (!(share >= kFewSkipped)) return std::nullopt;
  return Finding{
      .severity = share >= kManySkipped ? Severity::kWarning : Severity::kInfo,
      .confidence = 0.95,
      .summary =
          fmt::format("{:.0f}% of the samples are skipped because they are bad", 100 * share),
      .evidence = {fmt::format("{:.0f} samples skipped, {:.0f} trained on", skipped, trained)},
      .where = "the error policy of the dataset (.errors in with_options)",
      .fix =
          "read the skip log: each line names a file and what is wrong with it; repair or remove "
          "these files"};
}

// A run of 30 s with steps of 32 samples that skips `per_second` of them.
Trace skipping(int64_t per_second, double seconds = 30) {
  testing::Simulation run{.seconds = seconds};
  run.change = [per_second](TraceReading& reading) {
    reading.skipped = int64_t(reading.at_s) * per_second;
  };
  return testing::simulate(run);
}

std::optional<Finding> asked(const Trace& trace) { return samples_skipped(Observations(trace)); }

TEST(OwnRule, NamesARunThatSkipsOneSampleInFive) {
  const auto finding = asked(skipping(200));  // beside 25 steps of 32 samples each second
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->severity, Severity::kWarning);
  EXPECT_EQ(finding->summary, "20% of the samples are skipped because they are bad");
}

TEST(OwnRule, OnlyMentionsAFew) {
  const auto finding = asked(skipping(16));  // 2%
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->severity, Severity::kInfo);
}

TEST(OwnRule, IsSilentForAHealthyRun) {
  EXPECT_FALSE(asked(skipping(0)));
  EXPECT_FALSE(asked(skipping(1)));
}

TEST(OwnRule, IsSilentWhereTooLittleWasSeen) { EXPECT_FALSE(asked(skipping(200, 0.5))); }

TEST(OwnRule, IsSilentFromOutsideWhereSkippingCannotBeSeen) {
  Trace trace = skipping(200);
  trace.outside.seen = true;
  EXPECT_FALSE(asked(trace));
}

}  // namespace
}  // namespace headway
