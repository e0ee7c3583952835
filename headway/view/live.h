#pragma once

#include <string>
#include <vector>

#include "headway/doctor/diagnose.h"

namespace headway {

// A running training on `width` by `height` characters: verdict, progress with the time left, the
// way of the data as boxes with the hot one marked, where a step's time goes, loss and step time as
// small curves, findings. Rows end with "\n"; none is longer than `width`. Pure. With a low
// screen the drawings go first, verdict and findings stay.
std::string live_frame(const Trace& trace, const Verdict& verdict,
                       const std::vector<Finding>& findings, int width, int height,
                       bool color = false);

// The same on a line, for a log: "42 s  epoch 2/5  120/300  41 ms/step  loss 0.31  healthy".
std::string live_line(const Trace& trace, const Verdict& verdict);

}  // namespace headway
