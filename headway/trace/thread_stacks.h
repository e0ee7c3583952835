#pragma once

#include <string>
#include <vector>

namespace headway {

// One thread of this process: what the kernel says about it, and where it is in the code.
struct ThreadStack {
  int thread = 0;
  std::string name{};
  std::string state{};  // "sleeping in futex_wait_queue", "running"
  std::vector<std::string>
      frames{};  // innermost first: "headway::Pipeline::next() (pipeline.cpp:136)"
};

// The native stacks of all threads of this process except the caller's. Each thread is interrupted
// for some microseconds by a signal (SIGURG, unless the program uses it itself); a thread that does
// not answer quickly has no frames. For a run that is stuck: waits in other threads may end early
// with EINTR.
std::vector<ThreadStack> thread_stacks();

// As lines of text; threads at the same place are listed once.
std::string stacks_text(const std::vector<ThreadStack>& stacks);

}  // namespace headway
