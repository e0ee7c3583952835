#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headway/core/element.h"
#include "headway/data/options.h"
#include "headway/trace/feed.h"

namespace headway {

class Dataset;

// Where a pipeline stands, as text: small, readable, valid for any number of threads.
struct PipelineState {
  std::string text;
};

struct StartOptions {
  int64_t epoch = 0;                     // which iteration: keys shuffles and augmentations
  std::optional<PipelineState> state{};  // go on where this was saved
};

struct PipelineStats {
  std::vector<StageFacts> stages;  // nearest to the consumer first ...
  std::vector<StageReading> done;  // ... and what each has done
  int threads = 0;
  int64_t taken = 0;
  double running_s = 0;
  double waiting_s = 0;    // the consumer inside next(), nothing ready
  double elsewhere_s = 0;  // the consumer between two calls: the training step
  double first_s = 0;      // until the first element
  int64_t skipped = 0;
  int64_t buffer_held = 0, buffer_wanted = 0;  // of a shuffle that fills before it yields
  int64_t ram_used_bytes = 0, ram_peak_bytes = 0, ram_limit_bytes = 0;
};

// Who waits for what when nothing comes.
struct Stall {
  std::string text;   // a report of some lines
  std::string where;  // what the first busy worker is at: "in map of map+batch for 9.1 s"; or empty
  std::string stage;  // and its stage
};

// A dataset running: threads work ahead while the consumer does something else. Call from one
// thread. Destroying it at any time stops and joins everything.
//
//   Pipeline pipeline = dataset.start();
//   while (auto batch = pipeline.next()) train(*batch);
class Pipeline {
 public:
  Pipeline(const Dataset& dataset, StartOptions options = {});
  Pipeline(Pipeline&&) noexcept;
  ~Pipeline();

  // The next element; nothing at the end. Throws what went wrong, with operator, file and remedy.
  // When nothing comes for a while it says who waits for what (Options::stall_report_s).
  std::optional<Element> next();

  // The position behind the last element next() gave. A pipeline restored from it (same dataset,
  // any threads) goes on with exactly the element that would have come.
  PipelineState save() const;

  // stats() and stall(): from any thread, while the pipeline lives.
  PipelineStats stats() const;
  // What was planned, which threads and buffers were chosen, and why.
  std::string explain() const;
  // Who waits for what, since when: its text is what next() prints when nothing moves.
  Stall stall() const;
  std::string stall_report() const { return stall().text; }
  // From any thread: a next() that waits, now or later, throws within a second.
  void interrupt() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct PipelineEnd {};

// For range-based loops.
class PipelineIterator {
 public:
  explicit PipelineIterator(Pipeline pipeline)
      : pipeline_(std::make_shared<Pipeline>(std::move(pipeline))) {
    ++*this;
  }
  Element& operator*() { return *element_; }
  PipelineIterator& operator++() {
    element_ = pipeline_->next();
    return *this;
  }
  bool operator!=(PipelineEnd) const { return element_.has_value(); }

 private:
  std::shared_ptr<Pipeline> pipeline_;
  std::optional<Element> element_;
};

}  // namespace headway
