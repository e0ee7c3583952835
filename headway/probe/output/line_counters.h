#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

// Finds the count in lines that a program prints again and again, alike except for their numbers:
// "epoch 1 rows 500 rmse 1.02", then "epoch 1 rows 1000 rmse 0.97" counts rows. The number of the
// epoch is not used.
class LineCounters {
 public:
  // The count in this line, once such a number has risen from line to line.
  std::optional<int64_t> count_in(std::string_view line);

 private:
  struct Shape {
    std::vector<int64_t> last{};
    std::vector<int64_t> rises{};  // of each number
    int64_t repeats = 0;
  };
  std::map<std::string, Shape, std::less<>> shapes_;  // keys: lines without their numbers
};

}  // namespace headway
