#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headway/core/limits.h"
#include "headway/core/sync.h"
#include "headway/data/worker_pool.h"

namespace headway {

// What the workers did during one interval, in nanoseconds summed over them.
struct WorkerTimes {
  int64_t interval_ns = 0;  // wall time
  int64_t busy_ns = 0;      // inside stages, wall time
  int64_t cpu_ns = 0;       // on a core
  int64_t runnable_ns = 0;  // ready to run, waiting for a core
  int workers = 0;
};

// How many workers there should be next, given what `times` shows: pure arithmetic, so that it can
// be tested with numbers. Busy workers that neither run nor wait for a core are blocked (on a disk,
// a network, a lock): more of them cost no CPU. Workers that fight for cores should be fewer.
int wanted_threads(const WorkerTimes& times, double cpus, int most);

// Chooses the number of workers while the pipeline runs, and remembers why.
class Autotune {
 public:
  Autotune(WorkerPool& pool, Limits limits, std::optional<int> fixed_threads);

  int first_choice() const { return first_; }
  // Every tenth of a second. Workers are added only while the consumer waits for them: what it
  // does not miss would only take its cores and its memory.
  void tick(int64_t consumer_away_ns) HEADWAY_EXCLUDES(mu_);
  std::vector<std::string> decisions() const HEADWAY_EXCLUDES(mu_);

 private:
  WorkerTimes measure() HEADWAY_REQUIRES(mu_);
  void decide(std::string text) HEADWAY_REQUIRES(mu_);

  WorkerPool& pool_;
  const Limits limits_;
  const bool fixed_;
  int first_ = 1;
  int most_ = 1;
  const int64_t started_ns_;

  mutable Mutex mu_;
  int64_t last_ns_ HEADWAY_GUARDED_BY(mu_) = 0;
  int64_t last_away_ns_ HEADWAY_GUARDED_BY(mu_) = 0;
  WorkerTimes totals_ HEADWAY_GUARDED_BY(mu_);
  int agreeing_ HEADWAY_GUARDED_BY(mu_) =
      0;  // ticks that tell, in a row, and want the same direction
  std::vector<std::string> decisions_ HEADWAY_GUARDED_BY(mu_);
};

}  // namespace headway
