#include "headway/doctor/blocks.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

namespace headway {
namespace {

constexpr size_t kMostGroups = 20;

// Student's t for 95 %, by degrees of freedom.
double t_for(size_t freedom) {
  constexpr double kT[] = {12.71, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26,
                           2.23,  2.20,  2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09};
  return freedom < std::size(kT) ? kT[freedom] : 2.0;
}

}  // namespace

Estimate ratio_of(const std::vector<double>& parts, const std::vector<double>& weights) {
  // Groups of neighbouring blocks, so that a group is long compared with changes between steps.
  const size_t groups = std::min(kMostGroups, parts.size());
  std::vector<double> part(groups), weight(groups);
  for (size_t i = 0; i < parts.size(); ++i) {
    const size_t group = i * groups / parts.size();
    part[group] += parts[i];
    weight[group] += weights[i];
  }
  const double whole = std::accumulate(weight.begin(), weight.end(), 0.0);
  const double value = std::accumulate(part.begin(), part.end(), 0.0) / whole;
  if (groups < 2) return {value, 0, std::numeric_limits<double>::infinity()};
  double spread = 0;
  for (size_t g = 0; g < groups; ++g) {
    const double off = part[g] - value * weight[g];
    spread += off * off;
  }
  const double error =
      t_for(groups - 1) * std::sqrt(spread * double(groups) / double(groups - 1)) / whole;
  return {value, std::max(0.0, value - error), value + error};
}

}  // namespace headway
