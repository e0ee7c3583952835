#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "headway/trace/outside.h"

namespace headway {

// Where a run stands, by the variables of its training thread: a whole number of a known name that
// changes is what it counts its steps by. For programs whose output does not tell.
class VariableProgress {
 public:
  void take(const std::vector<SeenValue>& values, double now_s);
  const SeenProgress& progress() const { return progress_; }

 private:
  void count(int64_t step, double now_s);

  struct Counter {
    int64_t last = 0, changes = 0;
  };
  std::map<std::string, Counter> counters_;  // by function and name
  SeenProgress progress_{.source = ProgressSource::kVariables};
};

}  // namespace headway
