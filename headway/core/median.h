#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace headway {

// The upper one of two middles; 0 of nothing.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace headway
