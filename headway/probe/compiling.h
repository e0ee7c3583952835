#pragma once

#include "headway/trace/outside.h"

namespace headway {

// TensorFlow's C++ work on a graph it has just built looks like a step from outside: it is part of
// the same call. Time that follows such building without a pause counts as compiling, for at most
// as long as the building took. Takes looks at the training thread, in order.
class Compiling {
 public:
  Account account_of(const SeenStack& look, double now_s);

 private:
  double began_s_ = -1, ended_s_ = -1;  // the most recent building of a graph
  SeenFrame line_{};                    // the user's line that caused it
};

}  // namespace headway
