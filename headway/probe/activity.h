#pragma once

#include <string_view>
#include <vector>

#include "headway/trace/outside.h"

namespace headway {

// What a stack is doing, judged by the functions in it. The meaning of a framework's files and
// functions is in tables here and nowhere else.
struct StackMeaning {
  Activity activity = Activity::kOther;
  Maker maker = Maker::kNone;
};
// Does it start single operations on a device? On a CPU they would be computed on this thread.
bool gives_orders(const std::vector<SeenFrame>& innermost_first);

StackMeaning meaning_of(const std::vector<SeenFrame>& innermost_first, Role role, bool main_thread);

// Does it show that training has begun, on the main thread?
bool is_training(Activity activity);

// The account for a moment of the training thread. `training`: training has begun.
Account account_of(Activity activity, Wait wait, bool training);

// Is this where a worker was forked? Frames further out belong to its parent.
bool is_fork(std::string_view file, std::string_view function);

// Keras' loop over steps takes no lock itself. Where it waits for one it drops the iterator of the
// last epoch, and TensorFlow waits for the threads of that pipeline.
bool drops_a_pipeline(const std::vector<SeenFrame>& innermost_first);

// Does the thread check again and again, sleeping in between, whether a lock file is gone?
bool asks_for_lock_file(const std::vector<SeenFrame>& innermost_first);

// Is it in a call that only waits for child processes to end: join(), spawn(), torchrun?
bool waits_for_children(const std::vector<SeenFrame>& innermost_first);

// A worker of a pool or loader with nothing to do; a thread that waits for what workers make.
bool waits_for_task(const std::vector<SeenFrame>& innermost_first);
bool waits_for_worker(const std::vector<SeenFrame>& innermost_first);

}  // namespace headway
