#include "headway/view/report.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "headway/doctor/diagnose.h"
#include "headway/doctor/simulate.h"
#include "headway/trace/redact.h"
#include "headway/trace/trace_file.h"
#include "headway/view/cause_pages.h"

namespace headway {
namespace {

using testing::simulate;

std::string report_of(const Trace& trace) {
  const std::vector<Finding> findings = diagnose(trace);
  return report_html(trace, verdict(trace, findings), findings);
}

nlohmann::json data_of(const std::string& html) {
  const std::string begin = "id=\"data\">";
  const size_t at = html.find(begin) + begin.size();
  return nlohmann::json::parse(html.substr(at, html.find("</script>", at) - at));
}

Trace starved() { return simulate({.own_ms = 20, .op_ms = 100}); }

TEST(Report, HoldsVerdictFindingsAndCharts) {
  const auto data = data_of(report_of(starved()));
  EXPECT_EQ(data["verdict"]["state"], "slow");
  EXPECT_EQ(data["findings"].at(0)["cause"], "decode-saturated");
  std::string charts;
  for (const auto& chart : data["charts"]) charts += chart["title"].get<std::string>() + ", ";
  EXPECT_EQ(charts, "loss, learning rate, step time, speed, cores, memory, ");
}

TEST(Report, HoldsThePageOfEveryCauseItNames) {
  const auto data = data_of(report_of(starved()));
  const auto& finding = data["findings"].at(0);
  EXPECT_TRUE(finding["page_text"].get<std::string>().starts_with("# decode-saturated: "));
  EXPECT_EQ(finding["page_text"], cause_page("decode-saturated"));
}

TEST(CausePages, OfNoCauseIsEmpty) { EXPECT_TRUE(cause_page("no-such-cause").empty()); }

TEST(Report, MarksTheHotBox) {
  const auto hot = [](const Trace& trace) {
    std::string names;
    const auto data = data_of(report_of(trace));
    for (const auto& box : data["pipeline"]) {
      if (box["hot"]) names += box["kind"].get<std::string>();
    }
    return names;
  };
  EXPECT_EQ(hot(starved()), "stage");
  EXPECT_EQ(hot(simulate({.own_ms = 20, .op_ms = 1, .serial_ms = 100})), "source");
  EXPECT_EQ(hot(simulate({})), "training");
  EXPECT_EQ(hot(Trace{}), "");
}

TEST(Report, ShowsNamesAsTextWhateverTheyHold) {
  Trace trace = starved();
  const std::string evil = "</script><script>alert(1)</script><b>bold</b><!--\xe2\x80\xa8\"'&";
  trace.run.program = trace.run.model = trace.run.dataset = trace.run.optimizer = evil;
  trace.stages[0].name = evil;
  trace.stages[0].ops = {{.name = evil}};
  trace.notes = {{NoteKind::kWarning, 1, evil}};
  trace.epochs = {{1, 1, 1, {{evil, 1.0}}}};
  trace.ending = "failed: " + evil;
  const std::string html = report_of(trace);
  EXPECT_EQ(html.find("alert(1)</script>"), std::string::npos);
  EXPECT_EQ(html.find("<b>bold"), std::string::npos);
  EXPECT_EQ(data_of(html)["notes"].at(0)["text"], evil);
}

TEST(Report, TakesTextThatIsNotUtf8) {
  Trace trace = starved();
  trace.notes = {{NoteKind::kWarning, 1, "photo\xff\xfe.jpg"}};
  EXPECT_NE(data_of(report_of(trace))["notes"].at(0)["text"].get<std::string>().find("photo"),
            std::string::npos);
}

TEST(Report, CarriesNoSecrets) {
  Trace trace = starved();
  trace.run.program = "train.py --token hunter2";
  trace.notes = {{NoteKind::kWarning, 1, "https://me:hunter2@host refused"}};
  trace.ending = "failed: PASSWORD=hunter2";
  EXPECT_EQ(report_of(trace).find("hunter2"), std::string::npos);
}

TEST(Report, RedactionLeavesTheDoctorsWordsAlone) {
  for (const auto& file : std::filesystem::directory_iterator(SCENARIOS)) {
    if (file.path().extension() != ".trace") continue;
    for (const Finding& f : diagnose(read_trace(file.path()))) {
      EXPECT_EQ(redact(f.summary), f.summary);
      EXPECT_EQ(redact(f.where), f.where);
      EXPECT_EQ(redact(f.fix), f.fix);
      for (const std::string& line : f.evidence) EXPECT_EQ(redact(line), line);
    }
  }
}

TEST(Report, AsksNothingOfTheNetwork) {
  std::string html = report_of(starved());
  const size_t data = html.find("id=\"data\">");
  html.erase(data, html.find("</script>", data) - data);  // only ever shown as text
  for (const char* word : {"src=", "@import", "url(", "fetch(", "XMLHttpRequest", "import("}) {
    EXPECT_EQ(html.find(word), std::string::npos) << word;
  }
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
}

TEST(Report, StaysSmallHoweverLongTheRun) {
  Trace trace = simulate({.seconds = 50'000});
  for (int i = 0; i < 5000; ++i) {
    trace.phases.push_back({RunPhase::kValidation, double(i), 0.5});
    trace.notes.push_back({NoteKind::kWarning, double(i), "the same again"});
    trace.epochs.push_back({i, double(i), 10, {{"loss", 1.0 / (i + 1)}}, {{"loss", NAN}}});
  }
  EXPECT_LT(report_of(trace).size(), 600'000u);
}

TEST(Report, OfNothingIsStillAPage) { EXPECT_TRUE(data_of(report_of(Trace{}))["charts"].empty()); }

}  // namespace
}  // namespace headway
