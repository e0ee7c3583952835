#pragma once

#include <functional>
#include <string>
#include <vector>

#include "headway/probe/launch/launched.h"

namespace headway {

// Starts a command, watches it from a separate process, and returns its exit status (128 + signal
// if it was killed).
//
//   relay (this process) -+- copier, one for each of the user's terminals, pipes or files
//                         +- watcher - command
//
// Output, input, signals and exit status are the command's own. If the watcher dies, the command
// and its output go on, and a line on standard error says that watching has ended. Error when the
// command cannot be started.
//
//   return launch({"python", "train.py"}, {}, [](Launched& run) {
//     while (run.wait_for_output(0.05, taken)) {}
//   });
//
// Call it in a process that has one thread and handles no signals itself. Afterwards standard
// input, output and error of this process are /dev/null. What `watch` writes to standard error
// reaches the user between the lines of the command.
struct LaunchOptions {
  bool quiet = false;  // print nothing of our own on standard error
};
using Watch = std::function<void(Launched&)>;
int launch(const std::vector<std::string>& command, LaunchOptions options, const Watch& watch);

}  // namespace headway
