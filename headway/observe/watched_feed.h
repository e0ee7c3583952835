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
  std::vector<Finding> findings{};  // the root first
};

struct WatchOptions {
  std::string program = "feed";
  std::string trace{};    // a file for `headway doctor`; empty: none
  bool measures = false;  // taken from as fast as it can give: waiting for it is no fault
  StartOptions start{};   // of the pipeline
  // Called from the eye's own thread when the doctor calls the feed stuck, again after twice as
  // long; `report` has who waits for what and where the threads stand. It must not call
  // the feed, but for pipeline().interrupt(), which ends the wait. Empty: the report is logged.
  std::function<void(const Diagnosis& diagnosis, const std::string& report)> when_stuck{};
};

// A running dataset with the inside eye: for programs that do something else than training with
// the batches. A batch taken is a step; the time inside next() is waiting for data, the time
// between two calls is the consumer's own. next() from one thread; diagnosis() from any.
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

  Diagnosis diagnosis() const;  // of what is known by now
  Diagnosis finish();           // no more next(); what is known stays
  Pipeline& pipeline();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace headway
