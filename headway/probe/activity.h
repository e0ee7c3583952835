#pragma once

#include <string_view>
#include <vector>

#include "headway/trace/outside.h"

namespace headway {

// What a stack is about, by the functions it passes through. What a framework's file and function
// mean stands in tables here and nowhere else.
struct StackMeaning {
  Activity activity = Activity::kOther;
  Maker maker = Maker::kNone;
};
// Does it hand single operations to a device? On a CPU they would be computed here.
bool gives_orders(const std::vector<SeenFrame>& innermost_first);

StackMeaning meaning_of(const std::vector<SeenFrame>& innermost_first, Role role, bool main_thread);

// Does it show that training has begun, on the main thread?
bool is_training(Activity activity);

// What a moment of the training thread belongs to. `training`: it has begun.
Account account_of(Activity activity, Wait wait, bool training);

// Is this where a worker was forked? What lies further out is its parent's.
bool is_fork(std::string_view file, std::string_view function);

// Somebody who sleeps between two looks at a lock that is a file.
bool asks_for_lock_file(const std::vector<SeenFrame>& innermost_first);

// Stands in a call that only waits for processes it started to end: join(), spawn(), torchrun.
bool waits_for_children(const std::vector<SeenFrame>& innermost_first);

// A worker of a pool or a loader that has nothing to do; somebody who waits for what workers make.
bool waits_for_task(const std::vector<SeenFrame>& innermost_first);
bool waits_for_worker(const std::vector<SeenFrame>& innermost_first);

}  // namespace headway
