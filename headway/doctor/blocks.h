#pragma once

#include <vector>

namespace headway {

// A number with its 95 % confidence interval.
struct Estimate {
  double value = 0, low = 0, high = 0;
};

// The sum of `parts` divided by the sum of `weights`, each of one block of time, in their order: a
// share, a rate, seconds per step. Neighbouring moments are alike, so the error comes from groups
// of neighbouring blocks. With one block alone nothing is known of it, and `high` is infinite.
// REQUIRES: as many parts as weights, and a sum of weights above 0.
Estimate ratio_of(const std::vector<double>& parts, const std::vector<double>& weights);

}  // namespace headway
