#pragma once

#include <functional>
#include <string>
#include <vector>

#include "headway/core/text.h"
#include "headway/doctor/finding.h"
#include "headway/trace/trace.h"

namespace headway {

// A place in the user's own code, and how much of something is spent there.
struct HotLine {
  const SeenFrame* frame = nullptr;  // innermost of the user's own; none: nullptr
  std::string library{};             // where it calls to: "Image.resize"; empty: stays in it
  double share = 0;                  // of what was asked about
};

// What the outside eye saw, made ready for the rules. Refers to the trace.
class OutsideEvidence {
 public:
  explicit OutsideEvidence(const Trace& trace);

  const Trace& trace;
  const Outside& seen;

  using Test = std::function<bool(const SeenStack&)>;
  // Samples that pass; of late only those of about the last 15 s.
  int64_t count(const Test& test, bool late = false) const;
  // Of the main thread's samples since training began.
  double training_share(const Test& test) const;
  // Of the main thread's samples of late.
  double late_share(const Test& test) const;
  int64_t training_samples() const { return training_samples_; }
  int64_t late_samples() const { return late_samples_; }

  // The user's line that most samples stand on, of those that pass.
  HotLine hottest(const Test& test, bool late = false) const;
  // How much of them holds Python's lock: what libraries compute they compute without it.
  double share_with_lock(const Test& test) const;
  // How much of them runs in Python itself: many instructions, none of them a call that lasts.
  double interpreted_share(const Test& test) const;

  bool running() const { return seen.exit.empty() && !seen.gone; }
  bool training() const { return seen.training_since_s >= 0; }
  double training_s() const { return training() ? seen.at_s - seen.training_since_s : 0; }
  bool stepped() const { return seen.progress.steps > 0; }
  double cpus() const;  // what it may use
  // Is there a training on this thread that could wait for data? Without a framework and with next
  // to nothing of its own to do, the main thread only hands out work, and the workers do it.
  bool trains_itself() const;
  // Are steps made by those it started, and none by itself?
  bool workers_train() const;
  bool memory_grows() const;                        // in the last seconds, by more than a little
  int64_t workers() const { return workers_; }      // that are there
  int64_t ranks() const { return ranks_; }          // beside the main process, ever
  int64_t ended_workers() const { return ended_; }  // that went since the watch began
  const SeenProcess* main() const;

 private:
  int64_t training_samples_ = 0, late_samples_ = 0, workers_ = 0, ranks_ = 0, ended_ = 0;
};

// Tests the rules share.
bool on_main(const SeenStack& stack);    // the main thread of the main process
bool producing(const SeenStack& stack);  // user code that makes samples, in any process and thread
bool running_on_core(const SeenStack& stack);

// "train.py:12   image = Image.open(path)"
std::string place_text(const SeenFrame& frame);

}  // namespace headway
