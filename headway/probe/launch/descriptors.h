#pragma once

#include <vector>

#include "headway/core/descriptor.h"

namespace headway {

// What goes in at one end comes out at the other. Error when none can be made.
struct Pipe {
  Pipe();
  Descriptor read, write;
};

// Both ends read and write.
struct SocketPair {
  SocketPair();
  Descriptor one, other;
};

// Numbers 0 to 2 that are closed are taken, so that no file of ours gets one of them; the command
// still finds them closed.
void occupy_standard_descriptors();

// Reads nothing and writes nowhere: the user's own 0, 1 and 2 are let go.
void release_standard_descriptors();

// Closes every other file from number 3 on, those the user passed among them: a lock or a pipe that
// the command lets go must not be held by us.
void close_all_but(std::vector<int> kept);

}  // namespace headway
