#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "headway/doctor/evidence.h"
#include "headway/doctor/rules/outside.h"

namespace headway {
namespace {

constexpr double kSettlesS = 5;  // buffers and caches of libraries grow, after training began
constexpr double kLongEnoughS = 12, kStraight = 0.85;  // R^2 ...
constexpr double kSoonS = 8, kVeryStraight = 0.9;      // ... or earlier, if it is this clear
constexpr double kGrown = 48e6, kGrownShare = 0.08;
constexpr double kPerS = 0.4e6;  // bytes
constexpr double kMuch = 400e6;  // a cache in the first epoch may grow by less
constexpr double kLastsS = 1200;
constexpr double kListSeen = 0.5;  // enough if a list that nothing empties explains it
constexpr double kAskedFor = 0.2;  // of the growth, at least: newly allocated
constexpr double kCompiles = 0.3;  // recently: a compiler's memory is given back, or kept for good

}  // namespace

// Grows in a straight line since training began, with no end in sight.
std::optional<Finding> memory_grows(const OutsideEvidence& e) {
  const auto compiles = [](const SeenStack& s) {
    return on_main(s) && s.activity == Activity::kTrace;
  };
  const bool begun = (e.training() || e.stepped()) && e.late_share(compiles) < kCompiles;
  const double since = e.training() ? e.seen.training_since_s + kSettlesS : kSettlesS;
  std::vector<double> at, bytes;
  std::vector<double> asked;
  double left = 0;
  for (const TraceReading& sample : e.trace.samples) {
    if (sample.at_s < since || sample.system.rss_bytes <= 0) continue;
    at.push_back(sample.at_s), bytes.push_back(double(sample.system.rss_bytes));
    asked.push_back(double(sample.system.writable_bytes));
    left = double(sample.system.available_bytes);
  }
  if (!begun || at.size() < 12) return std::nullopt;
  const double seconds = at.back() - at.front();
  const Line line = fit_line(at, bytes);
  const Line half = fit_line({at.begin() + static_cast<long>(at.size() / 2), at.end()},
                             {bytes.begin() + static_cast<long>(at.size() / 2), bytes.end()});
  const double slope = line.slope - 2 * line.noise;
  const double grown = slope * seconds;
  const bool goes_on = half.slope - 2 * half.noise > 0.4 * line.slope;
  const bool plain = line.r2 >= kVeryStraight && grown >= 2 * kGrown && seconds >= kSoonS;
  const bool known = line.r2 >= kStraight && seconds >= kLongEnoughS;
  const double enough = e.seen.keeps_at.line > 0 ? kListSeen : 1;
  if (!(plain || known) || slope < kPerS || !goes_on || grown < enough * kGrown ||
      grown < enough * kGrownShare * bytes.front())
    return std::nullopt;
  const double lasts_s = left / line.slope;
  const bool first_epoch = e.seen.progress.epochs > 1 && e.seen.progress.epoch <= 1;
  // A large array that was allocated at once (a replay buffer, a cache) and is filled bit by bit
  // will be full one day.
  const bool fills = asked.front() > 0 && asked.back() - asked.front() < kAskedFor * grown;
  const bool may_be_a_cache = fills || (first_epoch && grown < kMuch && lasts_s > kLastsS);
  Finding f{.cause = Cause::kHostMemoryLeak,
            .severity = may_be_a_cache ? Severity::kInfo : Severity::kWarning,
            .confidence = 0.8,
            .summary = fmt::format("memory grows by {} per second: {} in {}", size_text(line.slope),
                                   size_text(grown), duration_text(seconds)),
            .evidence = {fmt::format("in a straight line (R2 {:.2f}), {} in use", line.r2,
                                     size_text(bytes.back()))},
            .fix =
                "keep numbers, not tensors: loss.item() or float(loss) in lists, nothing "
                "appended without end; close what is opened in every step"};
  if (fills) f.evidence.push_back("in memory that was asked for before: it has an end");
  if (left > 0)
    f.evidence.push_back(fmt::format("what is left lasts for about {}", duration_text(lasts_s)));
  const HotLine hot = e.hottest([](const SeenStack& s) { return on_main(s) && s.training; });
  if (e.seen.keeps_at.line > 0) f.where = place_text(e.seen.keeps_at);
  else if (hot.frame) f.where = place_text(*hot.frame);
  return f;
}

}  // namespace headway
