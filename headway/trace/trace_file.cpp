#include "headway/trace/trace_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "headway/core/error.h"
#include "headway/core/log.h"
#include "headway/trace/outside_file.h"
#include "headway/trace/redact.h"
#include "headway/trace/trace_fields.h"

namespace headway {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kFormat = "headway-trace";

template <typename T>
concept HasFields = requires(T& t) {
  each_field(t, [](const char*, auto&) {});
};

template <typename T>
concept ListOfRecords = requires {
  typename T::value_type;
}
&&HasFields<typename T::value_type>;

// JSON has no NaN: null stands for it.
double number(const Json& in) { return in.is_null() ? NAN : in.get<double>(); }

double rounded(double value) {  // to nanoseconds, so that a line stays readable
  return std::abs(value) < 1e-3 || std::abs(value) > 1e9 ? value : std::round(value * 1e9) / 1e9;
}

template <typename T>
Json to_json(const T& value) {
  if constexpr (HasFields<const T>) {
    Json out = Json::object();
    const T standard{};
    std::vector<Json> ordinary;  // what every such thing holds when nothing is said
    each_field(standard, [&](const char*, const auto& v) { ordinary.push_back(to_json(v)); });
    size_t i = 0;
    each_field(value, [&](const char* key, const auto& v) {
      Json field = to_json(v);
      if (field != ordinary[i++]) out[key] = std::move(field);
    });
    return out;
  } else if constexpr (std::is_same_v<T, StepTimes>) {
    Json out = Json::object();
    for (size_t i = 0; i < kStepPhases; ++i) {
      if (value.seconds[i] > 0) out[std::string(kStepPhaseNames[i])] = rounded(value.seconds[i]);
    }
    return out;
  } else if constexpr (ListOfRecords<T>) {
    Json out = Json::array();
    for (const auto& each : value) out.push_back(to_json(each));
    return out;
  } else if constexpr (std::is_same_v<T, double>) {
    return rounded(value);
  } else {
    return Json(value);
  }
}

template <typename T>
void from_json(const Json& in, T& value) {
  if constexpr (HasFields<T>) {
    each_field(value, [&](const char* key, auto& v) {
      if (const auto found = in.find(key); found != in.end()) from_json(*found, v);
    });
  } else if constexpr (std::is_same_v<T, StepTimes>) {
    for (size_t i = 0; i < kStepPhases; ++i) {
      value.seconds[i] = in.value(std::string(kStepPhaseNames[i]), 0.0);
    }
  } else if constexpr (ListOfRecords<T>) {
    for (const Json& each : in) from_json(each, value.emplace_back());
  } else if constexpr (std::is_same_v<T, double>) {
    value = number(in);
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    for (const Json& each : in) value.push_back(number(each));
  } else if constexpr (std::is_same_v<T, std::vector<std::pair<std::string, double>>>) {
    for (const Json& each : in) {
      value.emplace_back(each.at(0).get<std::string>(), number(each.at(1)));
    }
  } else {
    in.get_to(value);
  }
}

// Names need not be UTF-8: what is not becomes U+FFFD.
std::string text_of(const Json& line) {
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <typename T>
std::string line_of(const char* kind, const T& value) {
  Json line = {{"kind", kind}};
  line.update(to_json(value));
  return text_of(line);
}

void take_object(const Json& line, Trace& trace) {
  const std::string kind = line.value("kind", "");
  if (kind == "run") from_json(line, trace.run);
  if (kind == "stages") {
    trace.stages.clear();
    from_json(line.at("stages"), trace.stages);
  }
  if (kind == "weights") {
    trace.weights.clear();
    from_json(line.at("weights"), trace.weights);
    line.at("layers").get_to(trace.layers);
  }
  if (kind == "replay") from_json(line, trace.replay);
  if (kind == "numbers") from_json(line, trace.numbers.emplace_back());
  if (kind == "phase") from_json(line, trace.phases.emplace_back());
  if (kind == "sample") from_json(line, trace.samples.emplace_back());
  if (kind == "epoch") from_json(line, trace.epochs.emplace_back());
  if (kind == "note") from_json(line, trace.notes.emplace_back());
  if (kind == "outside") trace.outside = parse_outside(line.dump());
  if (kind == "end") trace.ending = line.value("ending", "");
}

void check_head(const Json& head, const std::string& name) {
  if (!head.is_object() || head.value("kind", "") != kFormat) {
    throw Error(name + " is not a trace of Headway",
                "traces are written by `headway train --trace FILE`");
  }
  if (const int version = head.value("version", 0); version != kTraceVersion) {
    throw Error(fmt::format("{} is a trace of version {}; this headway reads version {}", name,
                            version, kTraceVersion),
                "use the headway that wrote it, or record again");
  }
}

void take_line(const Json& line, const std::string& name, int64_t number, Trace& trace) {
  try {
    if (!line.is_object()) throw Error("not a JSON object");
    take_object(line, trace);
  } catch (const std::exception& e) {
    throw Error(fmt::format("{}:{}: {}", name, number, e.what()),
                "the file is damaged; the lines before this one may be cut out and read");
  }
}

Json parsed(const std::string& text) {
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

}  // namespace

TraceWriter::TraceWriter(const std::string& path)
    : path_(path), file_(std::fopen(path.c_str(), "we")) {
  if (!file_) {
    throw Error(fmt::format("{}: {}", path, std::strerror(errno)),
                "name a file in a folder that exists and may be written to");
  }
  line(Json{{"kind", kFormat}, {"version", kTraceVersion}}.dump());
}

TraceWriter::~TraceWriter() {
  if (file_) std::fclose(file_);
}

void TraceWriter::line(const std::string& text) {
  if (!file_) return;
  const std::string whole = text + "\n";
  if (std::fwrite(whole.data(), 1, whole.size(), file_) == whole.size() &&
      std::fflush(file_) == 0) {
    return;
  }
  log(LogLevel::kWarning, fmt::format("{}: {}; the trace ends here", path_, std::strerror(errno)));
  std::fclose(file_);
  file_ = nullptr;
}

void TraceWriter::write(const RunFacts& run) { line(line_of("run", redacted(run))); }
void TraceWriter::write(const std::vector<StageFacts>& stages) {
  line(text_of(Json{{"kind", "stages"}, {"stages", to_json(stages)}}));
}
void TraceWriter::write(const TracePhase& phase) { line(line_of("phase", phase)); }
void TraceWriter::write(const TraceSample& sample) { line(line_of("sample", sample)); }
void TraceWriter::write(const std::vector<WeightFacts>& weights,
                        const std::vector<std::string>& layers) {
  line(text_of(Json{{"kind", "weights"}, {"weights", to_json(weights)}, {"layers", layers}}));
}
void TraceWriter::write(const ReplaySample& replay) { line(line_of("replay", replay)); }
void TraceWriter::write(const NumbersSample& numbers) { line(line_of("numbers", numbers)); }
void TraceWriter::write(const TraceEpoch& epoch) { line(line_of("epoch", epoch)); }
void TraceWriter::write(const TraceNote& note) {
  line(line_of("note", TraceNote{note.kind, note.at_s, redact(note.text)}));
}
void TraceWriter::write(const Outside& outside) { line(outside_line(outside)); }
void TraceWriter::write_ending(const std::string& ending) {
  line(text_of(Json{{"kind", "end"}, {"ending", redact(ending)}}));
}

Trace read_trace(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw Error(fmt::format("{}: {}", path, std::strerror(errno)));
  return parse_trace(in, path);
}

Trace parse_trace(std::istream& in, const std::string& name) {
  Trace trace;
  std::string text;
  bool begun = false;
  for (int64_t number = 1; std::getline(in, text); ++number) {
    if (text.empty()) continue;
    const Json line = parsed(text);
    if (!begun) {
      check_head(line, name);
      begun = true;
      continue;
    }
    if (line.is_discarded() && (in.eof() || in.peek() == EOF)) break;  // cut by kill -9
    take_line(line, name, number, trace);
  }
  if (!begun) {
    throw Error(name + " is empty", "traces are written by `headway train --trace FILE`");
  }
  return trace;
}

bool TraceFollower::read_on() {
  std::ifstream in(path_, std::ios::binary | std::ios::ate);
  if (!in) throw Error(fmt::format("{}: {}", path_, std::strerror(errno)));
  if (in.tellg() < taken_bytes_) {
    taken_bytes_ = taken_lines_ = 0;
    trace_ = {};
  }
  in.seekg(taken_bytes_);
  bool any = false;
  // A line without its end is still being written: it is read again next time.
  for (std::string text; std::getline(in, text) && !in.eof(); any = true) {
    taken_bytes_ += static_cast<int64_t>(text.size()) + 1;
    if (++taken_lines_ == 1) {
      check_head(parsed(text), path_);
    } else if (!text.empty()) {
      take_line(parsed(text), path_, taken_lines_, trace_);
    }
  }
  return any;
}

void write_trace(const std::string& path, const Trace& trace) {
  TraceWriter writer(path);
  writer.write(trace.run);
  writer.write(trace.stages);
  if (!trace.weights.empty()) writer.write(trace.weights, trace.layers);
  if (trace.replay.batch_size > 0) writer.write(trace.replay);
  for (const TracePhase& phase : trace.phases) writer.write(phase);
  for (const TraceSample& sample : trace.samples) writer.write(sample);
  for (const NumbersSample& numbers : trace.numbers) writer.write(numbers);
  for (const TraceEpoch& epoch : trace.epochs) writer.write(epoch);
  for (const TraceNote& note : trace.notes) writer.write(note);
  if (trace.outside.seen) writer.write(trace.outside);
  if (trace.ended()) writer.write_ending(trace.ending);
}

}  // namespace headway
