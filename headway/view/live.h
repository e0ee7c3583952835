#pragma once

#include <string>
#include <vector>

#include "headway/doctor/verdict.h"

namespace headway {

// A running training drawn in `width` by `height` characters: verdict, progress with the time left,
// the path of the data as boxes with the hot one marked, where a step's time goes, loss and step
// time as small curves, findings. Rows end with "\n"; none is longer than `width`. Pure. On a low
// screen the drawings are left out first; verdict and findings stay.
std::string live_frame(const Trace& trace, const Verdict& verdict,
                       const std::vector<Finding>& findings, int width, int height,
                       bool color = false);

// The same in one line, for a log: "42 s  epoch 2/5  120/300  41 ms/step  loss 0.31  healthy".
std::string live_line(const Trace& trace, const Verdict& verdict);

}  // namespace headway
