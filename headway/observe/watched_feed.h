#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headway/data/dataset.h"
#include "headway/doctor/diagnose.h"

namespace headway {

struct Diagnosis {
  Verdict verdict{};
  std::vector<Finding> findings{};  // the root cause first
};

struct WatchOptions {
  std::string program = "feed";
  std::string trace{};    // a file for `headway doctor`; empty: none
  bool measures = false;  // batches are taken as fast as possible: waiting for data is no fault
  StartOptions start{};   // of the pipeline
  // Called from the eye's own thread when the doctor calls the pipeline stuck, again after twice as
  // long; `report` says who waits for what and where the threads are. It must not use the feed,
  // except pipeline().interrupt(), which ends the wait. Empty: the report is logged.
  std::function<void(const Diagnosis& diagnosis, const std::string& report)> when_stuck{};
};

// A running dataset with the inside eye: for programs that do something other than training with
// the batches. Each batch taken is a step; time inside next() counts as waiting for data, time
// between two calls as the consumer's own. next() from one thread; diagnosis() from any.
//
//   WatchedFeed feed(dataset, {.trace = "feed.trace"});
//   while (auto batch = feed.next()) use(*batch);
//   print("{}\n", feed.finish().verdict.sentence);
class WatchedFeed {
 public:
  explicit WatchedFeed(const Dataset& dataset, WatchOptions options = {});
  ~WatchedFeed();  // without finish() the trace says "stopped"
  WatchedFeed(const WatchedFeed&) = delete;

  std::optional<Element> next();

  Diagnosis diagnosis() const;  // from what is known so far
  Diagnosis finish();           // no next() after it; the diagnosis remains available
  Pipeline& pipeline();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace headway
