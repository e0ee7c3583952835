#pragma once

#include <string>

#include "headway/core/limits.h"
#include "headway/data/pipeline.h"

namespace headway::cli {

// What all threads of this process have used so far, in seconds.
struct Usage {
  double wall_s = 0;
  double cpu_s = 0;        // on a core (getrusage)
  double core_wait_s = 0;  // ready, but no core was free

  Usage operator-(const Usage& earlier) const {
    return {wall_s - earlier.wall_s, cpu_s - earlier.cpu_s, core_wait_s - earlier.core_wait_s};
  }
};
Usage usage_now();

// What the pipeline did between two looks at its statistics. REQUIRES: `earlier` is of the same
// one.
PipelineStats since(const PipelineStats& later, const PipelineStats& earlier);

// Seconds of all workers inside operators and sources.
double working_s(const PipelineStats& stats);

// What keeps the feed from being faster, in a sentence: pure, so that it can be tested with
// numbers.
struct Bottleneck {
  std::string kind;  // "cpu", "cores", "blocked", "consumer", "source"
  std::string text;
};
Bottleneck find_bottleneck(const PipelineStats& stats, const Usage& used, const Limits& limits);

}  // namespace headway::cli
