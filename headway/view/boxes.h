#pragma once

#include <string>
#include <utility>
#include <vector>

#include "headway/doctor/finding.h"
#include "headway/trace/trace.h"

namespace headway {

// The path of the data as boxes: source, stages of the pipeline, training.
struct Box {
  enum class Kind { kSource, kStage, kTraining };
  Kind kind = Kind::kStage;
  std::string name{};                                 // "decode+resize+batch"
  std::vector<std::pair<std::string, double>> ops{};  // with their shares of the box's work
  double utilisation = -1;  // 0..1 of the time it could work; -1: not known
  double per_second = 0;    // elements or batches that leave it
  int64_t queue_fill = 0, queue_capacity = 0;
  int64_t dropped = 0;
  bool hot = false;  // sets the pace, or everything waits for it; at most one box
};

// From the source to training, over the last `window_s` seconds (0: the whole run except warm-up).
std::vector<Box> boxes_of(const Trace& trace, const std::vector<Finding>& findings,
                          double window_s = 0);

}  // namespace headway
