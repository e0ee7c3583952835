#pragma once

#include <string>
#include <vector>

#include "headway/doctor/verdict.h"

namespace headway {

// A watched process of any framework in `width` by `height` characters: verdict, progress, what its
// training thread does and in which user lines, processes, threads and GPUs, findings. Rows end
// with "\n"; none is longer than `width`. Pure. On a low screen the middle goes first.
std::string outside_frame(const Trace& trace, const Verdict& verdict,
                          const std::vector<Finding>& findings, int width, int height, bool color);

}  // namespace headway
