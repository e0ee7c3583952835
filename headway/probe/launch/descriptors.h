#pragma once

#include <vector>

#include "headway/core/descriptor.h"

namespace headway {

// What is written to one end can be read from the other. Error when none can be made.
struct Pipe {
  Pipe();
  Descriptor read, write;
};

// Both ends can be read and written.
struct SocketPair {
  SocketPair();
  Descriptor one, other;
};

// Occupies those of the numbers 0 to 2 that are closed, so that no file of ours gets one; the
// command still finds them closed.
void occupy_standard_descriptors();

// Points 0, 1 and 2 to /dev/null, so that we no longer hold the user's own.
void release_standard_descriptors();

// Closes every other file from number 3 on, also those that the user passed in: a lock or pipe that
// the command releases must not be held by us.
void close_all_but(std::vector<int> kept);

}  // namespace headway
