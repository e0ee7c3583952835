#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/draw.h"

namespace headway::cli {

// What to draw, and where to.
struct MakeData {
  std::string out;
  int64_t count = 1000;
  int64_t classes = static_cast<int64_t>(kFigures.size());
  Drawing drawing;
  std::string format = "jpeg";
  int quality = 90;
  std::optional<int> threads;  // default: chosen
  bool force = false;
  bool json = false;

  size_t figure(int64_t i) const { return static_cast<size_t>(i % classes); }
  bool png() const { return format == "png"; }
  bool records() const { return format == "tfrecord"; }
};

struct Made {
  int64_t bytes = 0;
  double seconds = 0, per_second = 0;
};

// Draws what is not there yet; a folder that holds something else is refused unless forced.
Made make_data(const MakeData& settings);

}  // namespace headway::cli
