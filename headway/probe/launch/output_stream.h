#pragma once

#include <vector>

#include "headway/probe/launch/descriptors.h"

namespace headway {

// An output of the command. Where the user's end is a terminal, the command gets a terminal of the
// same size, else a pipe: so it buffers as it would without us.
struct OutputStream {
  int to = -1;         // the user's own
  Descriptor from;     // what the command wrote is read here
  Descriptor command;  // the command's end
  bool out = false, errors = false, terminal = false;
};

// One for standard output and one for standard error, if open; a single one where both go to the
// same place, so that lines keep their order.
std::vector<OutputStream> make_output_streams();

bool copy_window_size(int from, int to);  // true when the size changed

}  // namespace headway
