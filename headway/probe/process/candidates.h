#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace headway {

// A process that may be a training run.
struct Candidate {
  pid_t pid = 0;
  double cores = 0;  // used during a short look
  std::string memory{}, command{};
};

// Python processes with a framework loaded or much work done, busiest first; workers of one of them
// are left out. Looks for a fifth of a second.
std::vector<Candidate> training_candidates();
std::string json_of(const std::vector<Candidate>& candidates);

}  // namespace headway
