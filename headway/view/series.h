#pragma once

#include <string>
#include <vector>

#include "headway/trace/trace.h"

namespace headway {

// How a number changed during a run, ready to be drawn or exported. Lines of the same `chart` share
// its axes.
struct Point {
  double at_s = 0;
  int64_t step = 0;
  double value = 0;
};
enum class Unit : uint8_t {
  kNone,  // a number
  kSeconds,
  kBytes,
  kBytesPerSecond,
  kPerSecond,
  kShare,
  kCores,
  kBatches
};
template <>
struct Texts<Unit> {
  static constexpr std::string_view all[] = {"",   "s",     "bytes", "bytes/s",
                                             "/s", "share", "cores", "batches"};
};
enum class SeriesLine : uint8_t { kOther, kLoss, kStepTime };  // those that fit on a small screen
struct Series {
  std::string chart{};  // "loss"
  std::string name{};   // "validation"
  Unit unit = Unit::kNone;
  SeriesLine line = SeriesLine::kOther;
  std::vector<Point> points{};
};

// Keeps a report small however long the run was.
inline constexpr size_t kMaxPoints = 600;

// Everything in a trace that changes over time: losses first, then speed, then the machine. What is
// not known is left out, and so is what was always 0 where 0 means "did not happen". At most
// `limit` points each.
std::vector<Series> series_of(const Trace& trace, size_t limit = kMaxPoints);

// Where the time of the steps went, for one part of the run.
struct StepPiece {
  double from_s = 0, to_s = 0;
  int64_t step = 0, steps = 0;  // at its end; how many
  StepTimes times{};
};
std::vector<StepPiece> step_pieces(const Trace& trace, size_t limit);

// At most `limit` elements, evenly spaced, including the last one. `T` is any vector.
template <typename T>
std::vector<const typename T::value_type*> thinned(const T& all, size_t limit) {
  std::vector<const typename T::value_type*> out;
  if (all.empty() || limit == 0) return out;
  const size_t stride = (all.size() + limit - 1) / limit;
  for (size_t i = (all.size() - 1) % stride; i < all.size(); i += stride) out.push_back(&all[i]);
  return out;
}

}  // namespace headway
