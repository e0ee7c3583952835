#include "headway/view/tensorboard.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <protozero/pbf_writer.hpp>

#include "headway/core/error.h"
#include "headway/view/series.h"

namespace headway {
namespace {

//   Event   { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5; }
//   Summary { repeated Value value = 1; }     Value { string tag = 1; float simple_value = 2; }
enum Field { kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5 };
enum SummaryField { kValue = 1 };
enum ValueField { kTag = 1, kSimpleValue = 2 };

double now_s() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// TensorBoard reads every file with "tfevents" in its name, in alphabetical order.
std::string path_in(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    throw Error(fmt::format("{}: {}", folder, failed.message()),
                "name a folder that may be made and written to");
  }
  static std::atomic<int> count{0};
  char host[256] = "localhost";
  if (gethostname(host, sizeof host - 1) != 0) std::strcpy(host, "localhost");
  return fmt::format("{}/events.out.tfevents.{:010d}.{}.{}.{}", folder,
                     static_cast<int64_t>(now_s()), host, getpid(), count++);
}

std::string event(double wall_time_s) {
  std::string bytes;
  protozero::pbf_writer(bytes).add_double(kWallTime, wall_time_s);
  return bytes;
}

std::string tag_of(const std::string& chart, const std::string& name) {
  std::string tag = chart + "/" + name;
  for (char& c : tag) {
    if (c == ' ') c = '_';
  }
  std::erase(tag, ',');
  return tag;
}

}  // namespace

EventWriter::EventWriter(const std::string& folder) : path_(path_in(folder)), file_(path_) {
  std::string bytes = event(now_s());
  protozero::pbf_writer(bytes).add_string(kFileVersion, "brain.Event:2");
  file_.write(bytes);
}

void EventWriter::scalar(std::string_view tag, int64_t step, double value, double wall_time_s) {
  std::string bytes = event(wall_time_s);
  protozero::pbf_writer out(bytes);
  out.add_int64(kStep, step);
  {
    protozero::pbf_writer summary(out, kSummary);
    protozero::pbf_writer one(summary, kValue);
    one.add_string(kTag, tag.data(), tag.size());
    one.add_float(kSimpleValue, static_cast<float>(value));
  }
  file_.write(bytes);
}

void write_events(EventWriter& events, const Trace& trace, double begun_s) {
  for (const Series& series : series_of(trace)) {
    const std::string tag = tag_of(series.chart, series.name);
    for (const Point& p : series.points) events.scalar(tag, p.step, p.value, begun_s + p.at_s);
  }
  for (const StepPiece& piece : step_pieces(trace, kMaxPoints)) {
    for (size_t i = 0; i < kTrainingPhases; ++i) {
      events.scalar(tag_of("share of step", std::string(kStepPhaseNames[i])), piece.step,
                    piece.times.seconds[i] / piece.times.total(), begun_s + piece.to_s);
    }
  }
}

}  // namespace headway
