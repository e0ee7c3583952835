#include "headway/doctor/keeper.h"

#include <fmt/format.h>

#include <algorithm>

#include "headway/core/text.h"

namespace headway {
namespace {

// How many seconds a new verdict must hold before it is reported. Rules already look at many
// seconds, and only fire if even the unfavourable end of the interval is over the threshold.
constexpr double kLongestWait = 10;
constexpr double kAfterHealthy = 5;
constexpr double kAfterNotStarted = 5;      // at most; early in the run less:
constexpr double kPartOfNotStarted = 0.25;  // of the time for which training had not begun
constexpr double kComesBack = 2;  // times as long: for a cause that comes back after this one
constexpr double kTwice = 1;      // at least, between two looks
constexpr double kWorthKeeping = 5;
constexpr double kMuchOfTheRun = 0.33;  // of the run: it stays a warning or worse when it is over
constexpr size_t kMostChanges = 200;

bool is_over(State state) {
  return state == State::kFinished || state == State::kEnded || state == State::kCrashed ||
         state == State::kNotWatched;
}

}  // namespace

VerdictKeeper::Key VerdictKeeper::key_of(const std::vector<Finding>& findings,
                                         const Verdict& verdict) {
  return {verdict.state, has_problem(findings) ? findings[0].cause : Cause::kUnknown};
}

double VerdictKeeper::wait_for(const Key& key, double at_s) const {
  if (key_.state == State::kNotStarted)
    return std::min(kPartOfNotStarted * (challenged_s_ - since_s_), kAfterNotStarted);
  const bool comes_back = key == before_ && key.is_a_fault();
  const bool is_healthy = key_.state == State::kHealthy;
  if (comes_back && is_healthy) return kLongestWait;  // however short a time it was healthy
  const double longest = is_healthy   ? kAfterHealthy
                         : comes_back ? kComesBack * kLongestWait
                                      : kLongestWait;
  return std::min(at_s - since_s_, longest);
}

// A standstill is reported at once, and so is the end of the run.
bool VerdictKeeper::must_wait(const Key& key, double at_s) {
  if (is_over(key.state) || key.state == State::kStuck || key_.state == State::kStuck) return false;
  if (!challenged_ || !(challenger_ == key)) {
    challenged_ = true;
    challenger_ = key, challenged_s_ = at_s;
  }
  return at_s - challenged_s_ < wait_for(key, at_s);
}

void VerdictKeeper::accept(double at_s, const Key& key, double still_s) {
  before_ = key_;
  key_ = key, since_s_ = at_s;
  challenged_ = false;
  if (changes_.size() < kMostChanges) changes_.push_back({at_s, key.state, key.cause, still_s});
}

void VerdictKeeper::take(double at_s, std::vector<Finding> findings, Verdict verdict, bool last) {
  const Key key = key_of(findings, verdict);
  if (!begun_ || !(key == key_)) {
    // At the end, a fault seen twice replaces healthy, but does not replace another fault.
    const bool seen_twice = challenged_ && challenger_ == key && at_s - challenged_s_ >= kTwice;
    const bool said_now =
        last && (key_.state == State::kNotStarted || (key_.state == State::kHealthy && seen_twice));
    if (begun_ && must_wait(key, at_s) && !said_now) {
      last_s_ = at_s;
      return;
    }
    accept(at_s, key, verdict.still_s);
    begun_ = true;
  } else {
    challenged_ = false;
  }
  if (has_problem(findings)) {
    const auto known = std::find_if(episodes_.begin(), episodes_.end(), [&](const Episode& e) {
      return e.finding.cause == findings[0].cause;
    });
    Episode& episode = known == episodes_.end() ? episodes_.emplace_back() : *known;
    episode.finding = findings[0];
    episode.seconds += std::max(0.0, at_s - last_s_);
  }
  last_s_ = at_s;
  findings_ = std::move(findings), verdict_ = std::move(verdict);
  keep_past(at_s);
}

// Findings of severity warning or worse that are over come after the present ones, with their time.
void VerdictKeeper::keep_past(double at_s) {
  for (const Episode& past : episodes_) {
    const auto same = [&](const Finding& f) { return f.cause == past.finding.cause; };
    if (past.seconds < kWorthKeeping || std::any_of(findings_.begin(), findings_.end(), same))
      continue;
    Finding kept = past.finding;
    const bool much = is_over(verdict_.state) && past.seconds >= kMuchOfTheRun * at_s;
    kept.severity = much ? std::min(kept.severity, Severity::kHigh) : Severity::kInfo;
    kept.evidence.insert(
        kept.evidence.begin(),
        fmt::format("for {} of {}, over now", duration_text(past.seconds), duration_text(at_s)));
    const bool first = much && !has_problem(findings_);
    if (first && verdict_.state == State::kFinished)
      verdict_.sentence += fmt::format("; for {} of {}: {}", duration_text(past.seconds),
                                       duration_text(at_s), kept.summary);
    findings_.insert(first ? findings_.begin() : findings_.end(), std::move(kept));
  }
}

}  // namespace headway
