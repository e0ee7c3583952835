#pragma once

#include <string>
#include <vector>

#include "headway/doctor/diagnose.h"

namespace headway {

// A watched process of any framework on `width` by `height` characters: verdict, progress, what its
// training thread does and at which of the user's lines, processes, threads and GPUs, findings.
// Rows end with "\n"; none is longer than `width`. Pure. On a low screen the middle goes first.
std::string outside_frame(const Trace& trace, const Verdict& verdict,
                          const std::vector<Finding>& findings, int width, int height, bool color);

}  // namespace headway
