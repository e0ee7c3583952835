#pragma once

#include "headway/trace/outside.h"

namespace headway {

// What TensorFlow does in C++ with a graph it has just built looks like a step from outside: it is
// part of the same call. What follows the building of a graph without a pause counts as compiling,
// for as long at most as the building took. Looks at the training thread, in order.
class Compiling {
 public:
  Account account_of(const SeenStack& look, double now_s);

 private:
  double began_s_ = -1, ended_s_ = -1;  // the last building of a graph
  SeenFrame line_{};                    // the user's, that asked for it
};

}  // namespace headway
