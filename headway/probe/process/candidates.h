#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace headway {

// A process that may be a training run.
struct Candidate {
  pid_t pid = 0;
  double cores = 0;  // used during a short measurement
  std::string memory{}, command{};
};

// Python processes with a framework loaded or much CPU use, busiest first, without the workers of
// another candidate. Takes a fifth of a second.
std::vector<Candidate> training_candidates();
std::string json_of(const std::vector<Candidate>& candidates);

}  // namespace headway
