#pragma once

#include <string>
#include <vector>

#include "headway/doctor/diagnose.h"

namespace headway {

// What is said of a run that goes on. A verdict stays until another one has stood for as long as it
// did, ten seconds at most (healthy and not-started: five; a cause that gave way and comes back:
// twenty), so that noise does not decide; what is over is kept with its time.
//
//   VerdictKeeper keeper;
//   while (watching) keeper.take(at_s, diagnose(trace), verdict(trace, findings));
//   keeper.verdict(), keeper.findings()
class VerdictKeeper {
 public:
  // `last`: nothing comes after it, so a fault in a healthy run need only have been seen twice.
  void take(double at_s, std::vector<Finding> findings, Verdict verdict, bool last = false);

  const Verdict& verdict() const { return verdict_; }
  const std::vector<Finding>& findings() const { return findings_; }

  struct Change {
    double at_s = 0;
    State state = State::kNotStarted;
    Cause cause = Cause::kUnknown;  // of the first finding, where it is grave
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

  // A grave finding and how long it was the first.
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
