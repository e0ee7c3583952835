#pragma once

#include <cstdio>
#include <istream>
#include <string>

#include "headway/trace/trace.h"

namespace headway {

// A trace as text: one JSON object per line, `kind` first; the first line names format and version.
// Fields that are 0 or empty are left out.
//
//   {"kind":"headway-trace","version":1}
//   {"kind":"run","program":"headway-train","device":"cpu","cpus":2.0,"batch_size":32, ...}
//   {"kind":"stages","stages":[{"name":"image_folder+decode_image+batch", ...}]}
//   {"kind":"sample","at_s":0.25,"phase":"first batch", ...}
inline constexpr int kTraceVersion = 2;

// Writes whole lines one after the other, so that after kill -9 only the last one can be cut. Not
// for several threads. A full disk ends the writing with a warning, not the run.
class TraceWriter {
 public:
  explicit TraceWriter(const std::string& path);  // throws Error if the file cannot be created
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

// A cut last line is ignored. Errors name the file and the line.
Trace read_trace(const std::string& path);
Trace parse_trace(std::istream& in, const std::string& name);
void write_trace(const std::string& path, const Trace& trace);

// Follows a trace file that may still grow. Not for several threads.
//
//   TraceFollower run("run.trace");
//   while (!run.trace().ended()) if (run.read_on()) show(run.trace());
class TraceFollower {
 public:
  explicit TraceFollower(std::string path) : path_(std::move(path)) {}

  // Reads the lines that were added since the last call; true if there were any. Starts again when
  // another run has overwritten the file. Errors as in read_trace.
  bool read_on();
  const Trace& trace() const { return trace_; }

 private:
  const std::string path_;
  int64_t taken_bytes_ = 0, taken_lines_ = 0;
  Trace trace_;
};

}  // namespace headway
