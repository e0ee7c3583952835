#include "headway/view/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "headway/core/print.h"
#include "headway/doctor/evidence.h"
#include "headway/trace/redact.h"
#include "headway/view/boxes.h"
#include "headway/view/cause_pages.h"
#include "headway/view/json.h"
#include "headway/view/series.h"
#include "headway/view/summary_json.h"
#include "headway/view/terminal.h"

namespace headway {
using Json = nlohmann::ordered_json;

namespace {

#include "report_template.inc"

constexpr size_t kMaxPieces = 80;  // columns of the step breakdown
constexpr size_t kMaxPhases = 300, kMaxNotes = 200, kMaxEpochs = 600, kMaxSeries = 200;
constexpr size_t kMaxText = 20'000;  // of one note or the dataset

// Five digits are more than a screen shows, and need a third of the bytes of all digits.
Json rounded(double value) {
  if (!std::isfinite(value)) return {};
  if (value == 0) return 0;
  const double unit = std::pow(10.0, 4 - std::floor(std::log10(std::abs(value))));
  const double out = std::round(value * unit) / unit;
  return std::isfinite(out) ? out : value;
}

std::string cut(const std::string& text) {
  return text.size() <= kMaxText ? text : text.substr(0, kMaxText) + " ...";
}

Json facts_of(const Trace& trace, const Verdict& verdict, const RunSummary& run_in_numbers) {
  const RunFacts& run = trace.run;
  const TraceReading last = trace.samples.empty() ? TraceReading{} : trace.samples.back();
  Json out = Json::array();
  const auto fact = [&](const char* name, const std::string& text) {
    if (!text.empty()) out.push_back({name, text});
  };
  const auto number = [](int64_t n, const std::string& text) { return n > 0 ? text : ""; };
  fact("ended", trace.ended() ? trace.ending : "still running when this was written");
  fact("seen for", duration_text(last.at_s));
  fact("steps", with_commas(last.steps));
  fact("epochs", number(run.epochs, fmt::format("{} of {}", trace.epochs.size(), run.epochs)));
  fact("time of the training thread", time_text(run_in_numbers));
  fact("time left", verdict.eta_s ? duration_text(*verdict.eta_s) : "");
  fact("model", run.model);
  fact("parameters", number(run.parameters, count_text(run.parameters)));
  fact("optimizer", run.optimizer);
  fact("batch size", number(run.batch_size, with_commas(run.batch_size)));
  const bool named = run.on_gpu() && !run.gpu.empty();
  fact("device", named ? fmt::format("{} ({})", run.gpu, run.device) : run.device);
  fact("cores", run.cpus > 0 ? fmt::format("{:.3g}", run.cpus) : "");
  fact("compute threads", number(run.compute_threads, fmt::format("{}", run.compute_threads)));
  fact("feed threads", number(last.feed_threads, fmt::format("{}", last.feed_threads)));
  fact("bad samples skipped", number(last.skipped, with_commas(last.skipped)));
  fact("resumed", run.resumed ? "from a checkpoint" : "");
  return out;
}

std::vector<std::string> words_of(const std::string& name) {
  std::vector<std::string> out{""};
  for (const char c : name) {
    if (c == '+') {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

std::string trained(const RunFacts& run) {
  return (run.model.empty() ? "" : run.model + " ") + "on " + run.device;
}

Json pipeline_of(const Trace& trace, const std::vector<Finding>& findings) {
  constexpr const char* kKinds[] = {"source", "stage", "training"};
  Json out = Json::array();
  for (const Box& box : boxes_of(trace, findings)) {
    Json ops = Json::array();
    for (const auto& [name, share] : box.ops) ops.push_back({name, rounded(share)});
    const bool training = box.kind == Box::Kind::kTraining;
    out.push_back({{"kind", kKinds[static_cast<size_t>(box.kind)]},
                   {"names", words_of(training ? trained(trace.run) : box.name)},
                   {"ops", ops},
                   {"utilisation", rounded(box.utilisation)},
                   {"per_second", rounded(box.per_second)},
                   {"queue_fill", box.queue_fill},
                   {"queue_capacity", box.queue_capacity},
                   {"dropped", box.dropped},
                   {"hot", box.hot}});
  }
  return out;
}

Json seconds_of(const StepTimes& times) {
  Json out = Json::array();
  for (const double s : times.seconds) out.push_back(rounded(s));
  return out;
}

// The total is of the time that the doctor judges, so that the numbers are the same: warm-up is
// left out where there is more than that.
Json breakdown_of(const Trace& trace) {
  const Evidence judged(trace);
  StepTimes total = judged.last.times;
  for (size_t i = 0; judged.steady() && i < kStepPhases; ++i)
    total.seconds[i] -= judged.first.times.seconds[i];
  Json names = Json::array(), pieces = Json::array();
  for (const std::string_view name : kStepPhaseNames) names.push_back(std::string(name));
  for (const StepPiece& p : step_pieces(trace, kMaxPieces)) {
    pieces.push_back({rounded(p.from_s), rounded(p.to_s), p.step, p.steps, seconds_of(p.times)});
  }
  return {{"names", names},
          {"total", seconds_of(total)},
          {"steps", judged.steady() ? judged.steps : judged.last.steps},
          {"pieces", pieces}};
}

Json charts_of(const Trace& trace) {
  Json charts = Json::array();
  size_t count = 0;
  for (const Series& series : series_of(trace)) {
    if (++count > kMaxSeries) break;
    if (charts.empty() || charts.back()["title"] != series.chart) {
      charts.push_back(
          {{"title", series.chart}, {"unit", text_of(series.unit)}, {"lines", Json::array()}});
    }
    Json points = Json::array();
    for (const Point& p : series.points) {
      points.push_back({rounded(p.at_s), p.step, rounded(p.value)});
    }
    charts.back()["lines"].push_back({{"name", series.name}, {"points", points}});
  }
  return charts;
}

// The longest phases, in their order: short ones could not be seen anyway.
Json phases_of(std::vector<TracePhase> phases) {
  std::stable_sort(phases.begin(), phases.end(),
                   [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  if (phases.size() > kMaxPhases) phases.resize(kMaxPhases);
  std::stable_sort(phases.begin(), phases.end(),
                   [](const auto& a, const auto& b) { return a.at_s < b.at_s; });
  Json out = Json::array();
  for (const TracePhase& phase : phases) {
    out.push_back({{"name", text_of(phase.name)},
                   {"at_s", rounded(phase.at_s)},
                   {"seconds", rounded(phase.seconds)}});
  }
  return out;
}

Json events_of(const Trace& trace, Json out) {
  out["phases"] = phases_of(trace.phases);
  out["epochs"] = Json::array();
  for (const TraceEpoch* epoch : thinned(trace.epochs, kMaxEpochs)) {
    Json logs = Json::array();
    for (const auto& [name, value] : epoch->logs) logs.push_back({name, rounded(value)});
    for (const auto& [name, value] : epoch->validation)
      logs.push_back({"val_" + name, rounded(value)});
    out["epochs"].push_back(
        {{"epoch", epoch->epoch}, {"at_s", rounded(epoch->at_s)}, {"logs", logs}});
  }
  out["notes"] = Json::array();
  for (const TraceNote* note : thinned(trace.notes, kMaxNotes)) {
    out["notes"].push_back(
        {{"kind", text_of(note->kind)}, {"at_s", rounded(note->at_s)}, {"text", cut(note->text)}});
  }
  return out;
}

// Redacts every string, wherever it came from.
void redact_all(Json& json) {
  if (json.is_string()) {
    json = redact(json.get_ref<const std::string&>());
  } else if (json.is_structured()) {
    for (Json& each : json) redact_all(each);
  }
}

// JSON that no HTML parser can take for the end of its script element, or for anything else.
std::string json_in_html(const Json& json) {
  std::string out;
  for (const char c : json.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace)) {
    switch (c) {
      case '<': out += "\\u003c"; break;
      case '>': out += "\\u003e"; break;
      case '&': out += "\\u0026"; break;
      default: out += c;
    }
  }
  return out;
}

std::string text_in_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

// Replaces each %NAME% once, in the order of the template; the inserted text is not searched again.
std::string filled(std::string_view html,
                   std::initializer_list<std::pair<std::string_view, std::string_view>> parts) {
  std::string out;
  for (const auto& [name, text] : parts) {
    const size_t at = html.find(name);
    out += html.substr(0, at);
    out += text;
    html.remove_prefix(at + name.size());
  }
  return out.append(html);
}

}  // namespace

std::string report_html(const Trace& trace, const Verdict& verdict,
                        const std::vector<Finding>& findings) {
  const RunSummary run = summary_of(trace, verdict, findings);
  Json data = json_of(verdict, findings);
  for (size_t i = 0; i < findings.size(); ++i) {
    data["findings"][i]["confidence_text"] = confidence_text(findings[i]);
    data["findings"][i]["gain_text"] = gain_text(findings[i]);
  }
  data["run"] = json_of(run);
  data["verdict"] = {{"state", text_of(verdict.state)}, {"sentence", verdict.sentence}};
  data["program"] = trace.run.program;
  data["seconds"] = trace.samples.empty() ? Json(0) : rounded(trace.samples.back().at_s);
  data["facts"] = facts_of(trace, verdict, run);
  data["pipeline"] = pipeline_of(trace, findings);
  data["breakdown"] = breakdown_of(trace);
  data["charts"] = charts_of(trace);
  data["dataset"] = cut(trace.run.dataset);
  data = events_of(trace, std::move(data));
  redact_all(data);
  for (Json& finding : data["findings"]) {
    finding["page_text"] = std::string(cause_page(finding["cause"].get<std::string>()));
  }
  return filled(
      kHtml, {{"%TITLE%", text_in_html(visible(redact("headway: " + verdict.sentence)))},
              {"%CSS%", kCss},
              {"%PLAIN%", text_in_html(visible_lines(redact(report_text(verdict, findings, run))))},
              {"%DATA%", json_in_html(data)},
              {"%JS%", kJs}});
}

}  // namespace headway
