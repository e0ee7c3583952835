#pragma once

#include <functional>
#include <string>
#include <vector>

#include "headway/core/text.h"
#include "headway/doctor/finding.h"
#include "headway/trace/trace.h"

namespace headway {

// A place in the user's own code, and what share of something is spent there.
struct HotLine {
  const SeenFrame* frame = nullptr;  // innermost frame of the user's own code; nullptr: none
  std::string library{};             // the library function it calls: "Image.resize"; empty: none
  double share = 0;                  // of what was asked for
};

// What the outside eye saw, prepared for the rules. Refers to the trace.
class OutsideEvidence {
 public:
  explicit OutsideEvidence(const Trace& trace);

  const Trace& trace;
  const Outside& seen;

  using Test = std::function<bool(const SeenStack&)>;
  // Looks that pass the test. `late`: only those of about the last 15 s.
  int64_t count(const Test& test, bool late = false) const;
  // Share of the main thread's looks since training began.
  double training_share(const Test& test) const;
  // Share of the main thread's recent looks.
  double late_share(const Test& test) const;
  int64_t training_samples() const { return training_samples_; }
  int64_t late_samples() const { return late_samples_; }

  // The user's line that occurs in most of the looks that pass the test.
  HotLine hottest(const Test& test, bool late = false) const;
  // Share of them that holds Python's lock: libraries release it while they compute.
  double share_with_lock(const Test& test) const;
  // Share of them that runs in Python itself: many instructions, none of them a long call.
  double interpreted_share(const Test& test) const;

  bool running() const { return seen.exit.empty() && !seen.gone; }
  bool training() const { return seen.training_since_s >= 0; }
  double training_s() const { return training() ? seen.at_s - seen.training_since_s : 0; }
  bool stepped() const { return seen.progress.steps > 0; }
  double cpus() const;  // cores that it may use
  // Does this thread train, so that it could wait for data? Without a framework, a main thread that
  // does almost nothing itself only hands out work, and the workers train.
  bool trains_itself() const;
  // Do processes that it started make steps, while it makes none itself?
  bool workers_train() const;
  bool memory_grows() const;                    // recently, by more than a little
  int64_t workers() const { return workers_; }  // that exist now
  int64_t ranks() const { return ranks_; }  // beside the main process; those that ended count too
  int64_t ended_workers() const { return ended_; }  // since the watch began
  const SeenProcess* main() const;

 private:
  int64_t training_samples_ = 0, late_samples_ = 0, workers_ = 0, ranks_ = 0, ended_ = 0;
};

// Tests that several rules use.
bool on_main(const SeenStack& stack);    // the main thread of the main process
bool producing(const SeenStack& stack);  // user code that makes samples, in any process or thread
bool running_on_core(const SeenStack& stack);

// "train.py:12   image = Image.open(path)"
std::string place_text(const SeenFrame& frame);

}  // namespace headway
