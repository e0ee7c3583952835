#pragma once

#include <cstdio>
#include <istream>
#include <string>

#include "headway/trace/trace.h"

namespace headway {

// A trace as text: one JSON object a line, `kind` first; the first line names format and version.
// What is 0 or empty is left out.
//
//   {"kind":"headway-trace","version":1}
//   {"kind":"run","program":"headway-train","device":"cpu","cpus":2.0,"batch_size":32, ...}
//   {"kind":"stages","stages":[{"name":"image_folder+decode_image+batch", ...}]}
//   {"kind":"sample","at_s":0.25,"phase":"first batch", ...}
inline constexpr int kTraceVersion = 2;

// Writes line by line, each whole before the next is begun, so that after kill -9 only the last can
// be cut. Not for several threads. A full disk ends the writing with a warning, not the run.
class TraceWriter {
 public:
  explicit TraceWriter(const std::string& path);  // Error when the file cannot be made
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;

  void write(const RunFacts& run);
  void write(const std::vector<StageFacts>& stages);
  void write(const TracePhase& phase);
  void write(const std::vector<WeightFacts>& weights, const std::vector<std::string>& layers);
  void write(const ReplayReading& replay);
  void write(const TraceReading& sample);
  void write(const NumbersReading& numbers);
  void write(const TraceEpoch& epoch);
  void write(const TraceNote& note);
  void write(const Outside& outside);  // the last one counts
  void write_ending(const std::string& ending);

 private:
  void line(const std::string& text);

  const std::string path_;
  std::FILE* file_;
};

// A last line that is cut is left out. Errors name the file and the line.
Trace read_trace(const std::string& path);
Trace parse_trace(std::istream& in, const std::string& name);
void write_trace(const std::string& path, const Trace& trace);

// A trace file that may still grow. Not for several threads.
//
//   TraceFollower run("run.trace");
//   while (!run.trace().ended()) if (run.read_on()) show(run.trace());
class TraceFollower {
 public:
  explicit TraceFollower(std::string path) : path_(std::move(path)) {}

  // Takes the lines that came since the last call; did any? Begins again when another run has taken
  // the file over. Errors as read_trace.
  bool read_on();
  const Trace& trace() const { return trace_; }

 private:
  const std::string path_;
  int64_t taken_bytes_ = 0, taken_lines_ = 0;
  Trace trace_;
};

}  // namespace headway
