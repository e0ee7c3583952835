#pragma once

#include <vector>

#include "headway/data/dataset.h"
#include "headway/trace/trace.h"

namespace headway {

// What is known of a run from what it feeds on and where it runs.
RunFacts facts_of_feed(const Dataset& dataset);

int64_t samples_in(const Element& batch);  // its rows; 1 for what has none

// What the pipelines of a run, one after the other, have done in all.
class FeedWatch {
 public:
  // Fills in what is known of the feed. True: `stages` were others before.
  bool look(TraceReading& sample, std::vector<StageFacts>& stages) const;
  // The next one counts from 0: `so_far` is the last look at those before it. Null: none.
  void follow(const Pipeline* pipeline, TraceReading so_far);
  const Pipeline* pipeline() const { return pipeline_; }

 private:
  const Pipeline* pipeline_ = nullptr;
  TraceReading earlier_;
};

}  // namespace headway
