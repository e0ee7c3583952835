#include "headway/trace/trace_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "headway/core/error.h"

namespace headway {
namespace {

std::string problem_of(const std::string& text) {
  std::istringstream in(text);
  try {
    parse_trace(in, "run.trace");
  } catch (const Error& e) {
    return e.problem();
  }
  return "";
}

const std::string kHead = "{\"kind\":\"headway-trace\",\"version\":2}\n";

Trace some_trace() {
  Trace trace;
  trace.run.program = "test";
  trace.run.cpus = 1.5;
  trace.run.callbacks = {"csv"};
  trace.stages = {{.name = "map+batch",
                   .depth = 0,
                   .max_workers = 3,
                   .ops = {{.name = "map", .serial = true}}}};
  trace.phases = {{RunPhase::kFirstBatch, 0.5, 0.25}};
  TraceReading& reading = trace.samples.emplace_back();
  reading.at_s = 1.25;
  reading.steps = 7;
  reading.times.seconds[0] = 0.75;
  reading.stages = {{.in = 70, .out = 7, .busy_s = 0.5, .op_busy_s = {0.4}}};
  reading.files.open_s = 0.25;
  reading.system.cpu_s = 1.125;
  trace.weights = {{.name = "dense.weight", .values = 6, .kernel = true}};
  trace.layers = {"dense"};
  trace.replay = {.batch_size = 8, .step_s = 0.5};
  trace.numbers = {{.step = 5, .gradients = {NAN}, .updates = {0.125}, .input_std = 2}};
  trace.epochs = {{.epoch = 1, .at_s = 1, .steps = 7, .logs = {{"loss", 0.5}, {"odd", NAN}}}};
  trace.notes = {{NoteKind::kWarning, 1, "caf\xc3\xa9 \"quoted\"\nline"}};
  trace.ending = "finished";
  return trace;
}

TEST(TraceFile, ComesBackAsItWasWritten) {
  const std::string path = ::testing::TempDir() + "/headway_roundtrip.trace";
  write_trace(path, some_trace());
  const Trace back = read_trace(path);
  std::filesystem::remove(path);
  EXPECT_EQ(back.run.cpus, 1.5);
  EXPECT_EQ(back.run.steps_per_epoch, -1);
  EXPECT_EQ(back.run.callbacks, std::vector<std::string>{"csv"});
  EXPECT_EQ(back.stages, some_trace().stages);
  EXPECT_EQ(back.phases.at(0).seconds, 0.25);
  ASSERT_EQ(back.samples.size(), 1u);
  EXPECT_EQ(back.samples[0].steps, 7);
  EXPECT_EQ(back.samples[0].files.open_s, 0.25);
  EXPECT_EQ(back.samples[0].times[StepPhase::kWaitForData], 0.75);
  EXPECT_EQ(back.samples[0].stages.at(0).op_busy_s.at(0), 0.4);
  EXPECT_EQ(back.samples[0].system.cpu_s, 1.125);
  EXPECT_EQ(back.weights, some_trace().weights);
  EXPECT_EQ(back.layers, some_trace().layers);
  EXPECT_EQ(back.replay.step_s, 0.5);
  EXPECT_TRUE(std::isnan(back.numbers.at(0).gradients.at(0)));
  EXPECT_EQ(back.numbers[0].updates, std::vector<double>{0.125});
  EXPECT_EQ(back.numbers[0].input_std, 2);
  EXPECT_EQ(back.epochs.at(0).logs.at(0).second, 0.5);
  EXPECT_TRUE(std::isnan(back.epochs.at(0).logs.at(1).second));
  EXPECT_EQ(back.notes.at(0).text, some_trace().notes[0].text);
  EXPECT_EQ(back.ending, "finished");
}

TEST(TraceFile, NamesOfStagesMayHoldAnyBytes) {
  const std::string path = ::testing::TempDir() + "/headway_bytes.trace";
  Trace trace = some_trace();
  trace.stages[0].name = "cache(\xff)";
  EXPECT_NO_THROW(write_trace(path, trace));
  EXPECT_EQ(read_trace(path).stages.at(0).name, "cache(\xef\xbf\xbd)");
  std::filesystem::remove(path);
}

TEST(TraceFile, IsReadWhereverItWasCut) {
  const std::string path = ::testing::TempDir() + "/headway_cut.trace";
  write_trace(path, some_trace());
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  for (size_t length = kHead.size() + 1; length <= text.str().size(); ++length) {
    std::istringstream cut(text.str().substr(0, length));
    EXPECT_NO_THROW(parse_trace(cut, "cut")) << length;
  }
}

TEST(TraceFile, OfAnotherVersionIsRefused) {
  EXPECT_EQ(problem_of("{\"kind\":\"headway-trace\",\"version\":7}\n"),
            "run.trace is a trace of version 7, but this headway reads version 2");
}

TEST(TraceFile, OfAnotherKindIsRefused) {
  for (const char* text : {"hello\n", "{}\n", "[1]\n", "7\n",
                           "\x7f"
                           "ELF"}) {
    EXPECT_EQ(problem_of(text), "run.trace is not a trace of Headway") << text;
  }
  EXPECT_EQ(problem_of(""), "run.trace is empty");
}

TEST(TraceFile, DamageInTheMiddleIsNamedWithItsLine) {
  EXPECT_NE(problem_of(kHead + "{\"kind\":\n{\"kind\":\"end\"}\n").find("run.trace:2"),
            std::string::npos);
  EXPECT_NE(problem_of(kHead + "{\"kind\":\"sample\",\"steps\":\"x\"}\n{}\n").find("run.trace:2"),
            std::string::npos);
}

TEST(TraceFile, LinesOfAnUnknownKindAreForLaterVersions) {
  std::istringstream in(kHead + "{\"kind\":\"gpu\"}\n{\"kind\":\"end\",\"ending\":\"finished\"}\n");
  EXPECT_EQ(parse_trace(in, "x").ending, "finished");
}

TEST(TraceFile, ALineNestedTooDeepIsNamed) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  for (const char* kind : {"outside", "run", "stages", "note", "later"}) {
    const std::string line =
        "{\"kind\":\"" + std::string(kind) + "\",\"stages\":" + deep + ",\"text\":" + deep + "}\n";
    EXPECT_EQ(problem_of(kHead + line + "{}\n"),
              "run.trace:2: more than 32 levels of JSON in one another")
        << kind;
    EXPECT_NE(problem_of(kHead + line), "") << "the last line, and whole";
  }
}

TEST(TraceFile, AValueOfTheWrongKindIsNamedInPlainWords) {
  EXPECT_EQ(problem_of(kHead + R"({"kind":"sample","steps":[]})" + "\n{}\n"),
            "run.trace:2: in the JSON, 'steps' is a list, but must be a whole number in the "
            "allowed range");
  EXPECT_EQ(problem_of(kHead + R"({"kind":"outside","pid":1e300})" + "\n{}\n"),
            "run.trace:2: in the JSON, 'pid' is a number, but must be a whole number in the "
            "allowed range");
  EXPECT_EQ(problem_of(kHead + R"({"kind":"sample","steps":9223372036854775807})" + "\n{}\n"),
            "run.trace:2: the field 'steps' is 9223372036854775807, but must be between -2^53 and "
            "2^53");
  EXPECT_EQ(problem_of(kHead + R"({"kind":7})" + "\n{}\n"),
            "run.trace:2: in the JSON, 'kind' is a number, but must be a text");
  EXPECT_EQ(problem_of(kHead + R"({"kind":"epoch","logs":[["loss"]]})" + "\n{}\n"),
            "run.trace:2: in the JSON, 'logs' is a list, but must be a list of two");
  EXPECT_EQ(problem_of(R"({"kind":"headway-trace","version":[]})"),
            "run.trace is not a trace of Headway");
}

// Tests run side by side, each in a process of its own.
std::string followed_file() {
  return ::testing::TempDir() + "/headway_follow_" + std::to_string(::getpid()) + ".trace";
}

std::string file_with(const std::string& text) {
  std::ofstream(followed_file()) << text;
  return followed_file();
}

class FollowedTrace : public ::testing::Test {
 protected:
  ~FollowedTrace() override { std::filesystem::remove(followed_file()); }
};

TEST_F(FollowedTrace, TakesWhatWasAppendedAndLeavesTheLineThatIsNotWhole) {
  TraceFollower run(file_with(kHead + "{\"kind\":\"sample\",\"steps\":1}\n{\"kind\":\"sam"));
  EXPECT_TRUE(run.read_on());
  EXPECT_EQ(run.trace().samples.size(), 1u);
  EXPECT_FALSE(run.read_on());
  std::ofstream(followed_file(), std::ios::app)
      << "ple\",\"steps\":2}\n{\"kind\":\"end\",\"ending\":\"finished\"}\n";
  EXPECT_TRUE(run.read_on());
  EXPECT_EQ(run.trace().samples.at(1).steps, 2);
  EXPECT_TRUE(run.trace().ended());
}

TEST_F(FollowedTrace, BeginsAgainWhenAnotherRunTookTheFile) {
  TraceFollower run(file_with(kHead + "{\"kind\":\"sample\"}\n{\"kind\":\"sample\"}\n"));
  EXPECT_TRUE(run.read_on());
  file_with(kHead);
  EXPECT_TRUE(run.read_on());
  EXPECT_TRUE(run.trace().samples.empty());
}

TEST_F(FollowedTrace, RefusesWhatReadTraceRefuses) {
  EXPECT_THROW(TraceFollower(file_with("hello\n")).read_on(), Error);
  EXPECT_THROW(TraceFollower(file_with(kHead + "{\"kind\":\nx\n")).read_on(), Error);
  EXPECT_THROW(TraceFollower("missing.trace").read_on(), Error);
}

TEST(Thinning, KeepsFewerAndFewer) {
  Thinning thinning(100);
  int kept = 0;
  for (int i = 0; i < 1'000'000; ++i) kept += thinning.keeps_next();
  EXPECT_LT(kept, 1000);
  EXPECT_GT(kept, 500);
}

TEST(Thinning, OfASeriesKeepsItsLast) {
  std::vector<int> series{0, 1, 2, 3, 4, 5};
  thin_out(series, 6);
  EXPECT_EQ(series, (std::vector<int>{0, 2, 4, 5}));
}

}  // namespace
}  // namespace headway
