#include <gtest/gtest.h>

#include "headway/doctor/simulate_looks.h"

namespace headway {
namespace {

TEST(OutsideVerdict, ACrashSaysWhatAndWhere) {
  Trace trace = watched({training(100)});
  trace.outside.exit = "exit status 1";
  trace.outside.exit_status = 1;
  trace.outside.output.exception = "ValueError: shapes differ";
  trace.outside.output.raised_at = users(7, "main", "loss(x, y)");
  const Verdict said = verdict(trace, diagnose(trace));
  EXPECT_EQ(said.state, State::kCrashed);
  EXPECT_EQ(said.sentence,
            "crashed: exit status 1; ValueError: shapes differ at train.py:7   loss(x, y)");
}

TEST(OutsideVerdict, OfWhatMayNotBeReadNothingIsSaidButWhy) {
  Trace trace = watched({training(300)});
  trace.outside.unwatched = "process 2 is a thread of the kernel";
  const Verdict said = verdict(trace, diagnose(trace));
  EXPECT_EQ(said.state, State::kNotWatched);
  EXPECT_EQ(said.sentence, "not watched: process 2 is a thread of the kernel");
  EXPECT_TRUE(diagnose(trace).empty());
}

TEST(OutsideVerdict, AProcessThatIsGoneIsNotHealthy) {
  Trace trace = watched({training(300)});
  trace.outside.gone = true;
  const Verdict said = verdict(trace, {});
  EXPECT_EQ(said.state, State::kEnded);
  EXPECT_NE(said.sentence.find("of watching"), std::string::npos) << said.sentence;
  EXPECT_FALSE(said.eta_s);
}

TEST(OutsideVerdict, AHealthyRunSaysWhenItEnds) {
  Trace trace = watched({training(300)});
  trace.outside.progress.epoch = trace.outside.progress.epochs = 1;
  trace.outside.progress.steps_per_epoch = 200;
  trace.outside.progress.step = 100;
  const Verdict said = verdict(trace, {});
  EXPECT_EQ(said.state, State::kHealthy);
  ASSERT_TRUE(said.eta_s);
  EXPECT_DOUBLE_EQ(*said.eta_s, 20);
}

}  // namespace
}  // namespace headway
