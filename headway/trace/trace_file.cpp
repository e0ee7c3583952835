#include "headway/trace/trace_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

#include "headway/core/error.h"
#include "headway/core/log.h"
#include "headway/trace/json_fields.h"
#include "headway/trace/outside_fields.h"
#include "headway/trace/redact.h"
#include "headway/trace/trace_fields.h"

namespace headway {
namespace {

constexpr const char* kFormat = "headway-trace";

// File names may contain bytes that are not text.
std::string text_of(const OrderedJson& line) {
  return line.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

template <typename T>
std::string line_of(const char* kind, const T& value) {
  OrderedJson line = {{"kind", kind}};
  line.update(to_json(value));
  return text_of(line);
}

template <typename T>
void take_list(const JsonView& in, T& list) {
  list.clear();
  from_json(in, list);
}

void take_object(const JsonView& line, Trace& trace) {
  const auto kind = line.get<std::string>("kind", "");
  if (kind == "run") from_json(line, trace.run);
  if (kind == "stages") take_list(line["stages"], trace.stages);
  if (kind == "weights") {
    take_list(line["weights"], trace.weights);
    take_list(line["layers"], trace.layers);
  }
  if (kind == "replay") from_json(line, trace.replay);
  if (kind == "numbers") from_json(line, trace.numbers.emplace_back());
  if (kind == "phase") from_json(line, trace.phases.emplace_back());
  if (kind == "sample") from_json(line, trace.samples.emplace_back());
  if (kind == "epoch") from_json(line, trace.epochs.emplace_back());
  if (kind == "note") from_json(line, trace.notes.emplace_back());
  if (kind == "outside") from_json(line, trace.outside = {});
  if (kind == "end") trace.ending = line.get<std::string>("ending", "");
}

// The version, when this is the first line of a trace.
std::optional<int64_t> version_in(const std::string& head) try {
  const nlohmann::json json = parse_json(head);
  const JsonView line(json);
  if (line.get<std::string>("kind", "") != kFormat) return std::nullopt;
  return line["version"].as<int64_t>();
} catch (const Error&) {
  return std::nullopt;
}

void check_head(const std::string& head, const std::string& name) {
  const std::optional<int64_t> version = version_in(head);
  if (!version) {
    throw Error(name + " is not a trace of Headway",
                "give a file that `headway train`, `headway run` or `headway attach` wrote with "
                "--trace FILE");
  }
  if (*version != kTraceVersion) {
    throw Error(fmt::format("{} is a trace of version {}, but this headway reads version {}", name,
                            *version, kTraceVersion),
                "use the Headway release that wrote it, or record the run again");
  }
}

void take_line(const std::string& text, Trace& trace) {
  const nlohmann::json json = parse_json(text);
  take_object(JsonView(json, "the line"), trace);
}

[[noreturn]] void bad_line(const std::string& name, int64_t number, const Error& e) {
  throw Error(
      fmt::format("{}:{}: {}", name, number, e.problem()),
      "the file is damaged; to read the part before this line, copy those lines to another file");
}

// Is this the last line of the file, cut by kill -9?
bool cut_short(const Error& e, std::istream& in) {
  const auto* json = dynamic_cast<const JsonError*>(&e);
  return json && !json->over_limit() && (in.eof() || in.peek() == EOF);
}

}  // namespace

TraceWriter::TraceWriter(const std::string& path)
    : path_(path), file_(std::fopen(path.c_str(), "we")) {
  if (!file_) {
    throw Error(fmt::format("{}: {}", path, std::strerror(errno)),
                "name a file in a folder that exists and may be written to");
  }
  line(text_of({{"kind", kFormat}, {"version", kTraceVersion}}));
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
  line(text_of({{"kind", "stages"}, {"stages", to_json(stages)}}));
}
void TraceWriter::write(const TracePhase& phase) { line(line_of("phase", phase)); }
void TraceWriter::write(const TraceReading& sample) { line(line_of("sample", sample)); }
void TraceWriter::write(const std::vector<WeightFacts>& weights,
                        const std::vector<std::string>& layers) {
  line(text_of({{"kind", "weights"}, {"weights", to_json(weights)}, {"layers", layers}}));
}
void TraceWriter::write(const ReplayReading& replay) { line(line_of("replay", replay)); }
void TraceWriter::write(const NumbersReading& numbers) { line(line_of("numbers", numbers)); }
void TraceWriter::write(const TraceEpoch& epoch) { line(line_of("epoch", epoch)); }
void TraceWriter::write(const TraceNote& note) {
  TraceNote shown = note;
  shown.text = redact(note.text);
  shown.where = redact(note.where);
  line(line_of("note", shown));
}
void TraceWriter::write(const Outside& outside) { line(line_of("outside", outside)); }
void TraceWriter::write_ending(const std::string& ending) {
  line(text_of({{"kind", "end"}, {"ending", redact(ending)}}));
}

Trace read_trace(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw Error(fmt::format("{}: {}", path, std::strerror(errno)));
  return parse_trace(in, path);
}

Trace parse_trace(std::istream& in, const std::string& name) {
  Trace trace;
  bool begun = false;
  int64_t number = 0;
  try {
    for (std::string text; ++number, read_line(in, text);) {
      if (text.empty()) continue;
      if (begun) {
        take_line(text, trace);
      } else {
        check_head(text, name);
        begun = true;
      }
    }
  } catch (const Error& e) {
    if (!begun) throw;
    if (!cut_short(e, in)) bad_line(name, number, e);
  }
  if (!begun) {
    throw Error(name + " is empty",
                "give a file that `headway train`, `headway run` or `headway attach` wrote with "
                "--trace FILE");
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
  // A line without its end is still being written: it will be read again next time.
  for (std::string text; read_line(in, text) && !in.eof(); any = true) {
    taken_bytes_ += static_cast<int64_t>(text.size()) + 1;
    if (++taken_lines_ == 1) {
      check_head(text, path_);
    } else if (!text.empty()) {
      try {
        take_line(text, trace_);
      } catch (const Error& e) {
        bad_line(path_, taken_lines_, e);
      }
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
  for (const TraceReading& sample : trace.samples) writer.write(sample);
  for (const NumbersReading& numbers : trace.numbers) writer.write(numbers);
  for (const TraceEpoch& epoch : trace.epochs) writer.write(epoch);
  for (const TraceNote& note : trace.notes) writer.write(note);
  if (trace.outside.seen) writer.write(trace.outside);
  if (trace.ended()) writer.write_ending(trace.ending);
}

}  // namespace headway
