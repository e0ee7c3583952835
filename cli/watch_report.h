#pragma once

#include <string>
#include <vector>

#include "headway/doctor/keeper.h"
#include "headway/trace/trace.h"

namespace headway::cli {

constexpr int kFound = 3, kNotWatched = 4, kEnded = 5;  // exit statuses beside 0, 1 and 2

// The verdicts on a watched run as they come: which is new, and how to show it.
class WatchReport {
 public:
  void judge(Trace trace, bool last = false);

  const Trace& trace() const { return trace_; }
  const Verdict& verdict() const { return keeper_.verdict(); }
  const std::vector<Finding>& findings() const { return keeper_.findings(); }
  // Is there something to repair that was not said before? Asks once.
  bool has_news();
  // A verdict that will not get better by waiting.
  bool settled(double now_s) const;

  std::string text() const;  // the verdict and its findings
  std::string json() const;  // for machines
  // 0 healthy, 3 something should be repaired, 4 not watched, 5 ended and nobody can say how
  int exit_status() const;

 private:
  double since_s() const;  // when what is said now was first said

  Trace trace_;
  VerdictKeeper keeper_;
  std::string said_;  // what was last told
};

}  // namespace headway::cli
