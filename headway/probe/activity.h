#pragma once

#include <string>
#include <vector>

#include "headway/trace/outside.h"

namespace headway {

// What a stack is about, by the functions of the frameworks it passes through:
//   "import"      loading modules
//   "trace"       building or compiling a graph (tf.function, torch.compile, XLA)
//   "fetch"       the training thread gets its next batch
//   "produce"     user code makes samples for somebody else: generator, Sequence, worker process
//   "step"        forward, backward, optimizer
//   "validate"    evaluation
//   "callback"    a callback of fit; "checkpoint" when it saves
//   "collective"  waits for other ranks; "rendezvous" before they have met
//   "fit"         elsewhere inside a training call
//   "idle"        a thread or worker that waits for work
//   "user"        the user's own code, in nothing of the above
//   "other"       none of the user's code either
std::string activity_of(const std::vector<SeenFrame>& innermost_first);

// Does it show that training has begun, on the main thread?
bool is_training(const std::string& activity);

// "keras", "tensorflow", "torch", by what a stack passes through; empty: none.
std::string framework_of(const std::vector<SeenFrame>& innermost_first);

}  // namespace headway
