#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headway/core/element.h"
#include "headway/data/options.h"

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

struct OpStats {
  std::string name;
  double busy_ns = 0;  // estimated for all elements from those that were timed
};

struct StageStats {
  std::string name;
  int depth = 0;  // 0 is nearest to the consumer
  int64_t elements_in = 0;
  int64_t elements_out = 0;
  int64_t dropped = 0;
  int64_t bytes_out = 0;
  double busy_s = 0;                                // running operators, summed over workers
  double input_s = 0;                               // pulling from its source
  int64_t waits_for_input = 0, waits_for_room = 0;  // a worker came in vain
  int64_t queue_fill = 0;
  int64_t queue_capacity = 0;
  std::vector<OpStats> ops;
};

struct PipelineStats {
  std::vector<StageStats> stages;  // nearest to the consumer first
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

// A dataset running: threads work ahead while the consumer does something else. Call from one
// thread. Destroying it at any time stops and joins everything.
//
//   Pipeline run = dataset.start();
//   while (auto batch = run.next()) train(*batch);
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

  // stats() and stall_report(): from any thread, while the pipeline lives.
  PipelineStats stats() const;
  // What was planned, which threads and buffers were chosen, and why.
  std::string explain() const;
  // Who waits for what, since when: what next() prints when nothing moves.
  std::string stall_report() const;
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
  explicit PipelineIterator(Pipeline run) : run_(std::make_shared<Pipeline>(std::move(run))) {
    ++*this;
  }
  Element& operator*() { return *element_; }
  PipelineIterator& operator++() {
    element_ = run_->next();
    return *this;
  }
  bool operator!=(PipelineEnd) const { return element_.has_value(); }

 private:
  std::shared_ptr<Pipeline> run_;
  std::optional<Element> element_;
};

}  // namespace headway
