#pragma once

#include <string>
#include <vector>

#include "headway/doctor/verdict.h"

namespace headway {

// What to say about a run that goes on. So that noise does not decide, a new verdict replaces the
// old one only after holding for as long as that did, at most ten seconds (healthy, not-started:
// five; a cause that was replaced and comes back: twenty, after healthy ten). Findings that are
// over are kept.
//
//   VerdictKeeper keeper;
//   while (watching) keeper.take(at_s, diagnose(trace), verdict(trace, findings));
//   keeper.verdict(), keeper.findings()
class VerdictKeeper {
 public:
  // `last`: nothing comes after it, so a fault in a healthy run only has to be seen twice.
  void take(double at_s, std::vector<Finding> findings, Verdict verdict, bool last = false);

  const Verdict& verdict() const { return verdict_; }
  const std::vector<Finding>& findings() const { return findings_; }

  struct Change {
    double at_s = 0;
    State state = State::kNotStarted;
    Cause cause = Cause::kUnknown;  // of the first finding, if it is a warning or worse
    double still_s = 0;             // see Verdict
  };
  const std::vector<Change>& changes() const { return changes_; }

 private:
  struct Key {
    State state = State::kNotStarted;
    Cause cause = Cause::kUnknown;
    bool operator==(const Key&) const = default;
    bool is_a_fault() const { return cause != Cause::kUnknown; }
  };
  static Key key_of(const std::vector<Finding>& findings, const Verdict& verdict);
  bool must_wait(const Key& key, double at_s);
  double wait_for(const Key& key, double at_s) const;
  void accept(double at_s, const Key& key, double still_s);
  void keep_past(double at_s);

  // A finding of severity warning or worse, and for how long it was the first one.
  struct Episode {
    Finding finding{};
    double seconds = 0;
  };

  Verdict verdict_{};
  std::vector<Finding> findings_;
  std::vector<Change> changes_;
  std::vector<Episode> episodes_;
  Key key_{}, before_{}, challenger_{};
  double since_s_ = 0, challenged_s_ = 0, last_s_ = 0;
  bool begun_ = false, challenged_ = false;
};

}  // namespace headway
