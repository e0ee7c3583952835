#pragma once

#include <vector>

#include "headway/data/dataset.h"
#include "headway/trace/trace.h"

namespace headway {

// What is known about a run from its dataset and its machine.
RunFacts facts_of_feed(const Dataset& dataset);

int64_t samples_in(const Element& batch);  // its rows; 1 if it has none

// What all pipelines of a run, one after the other, have done together.
class FeedWatch {
 public:
  // Fills in what is known about the feed. Returns true when `stages` has changed.
  bool look(TraceReading& reading, std::vector<StageFacts>& stages) const;
  // The next pipeline counts from 0: `so_far` is the last look at all before it. Null: no next one.
  void follow(const Pipeline* pipeline, TraceReading so_far);
  const Pipeline* pipeline() const { return pipeline_; }

 private:
  const Pipeline* pipeline_ = nullptr;
  TraceReading earlier_;
};

}  // namespace headway
