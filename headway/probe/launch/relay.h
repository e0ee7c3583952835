#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <string_view>
#include <vector>

#include "headway/probe/launch/descriptors.h"
#include "headway/probe/launch/output_stream.h"

namespace headway {

// A copier, as seen by the relay.
struct RelayedOutput {
  pid_t copier = -1;
  Descriptor bell;  // see copier.h
  // If the user has a terminal: that one, and the command's, which gets the same size.
  Descriptor users_terminal, terminal;
  const char* name = "";
};

// The process that the user started: it passes signals on to the command and ends with its status.
// It stays whatever happens to the watcher: if that dies, the command becomes its child (it is the
// child subreaper). It reads nothing of the output and allocates nothing.
class Relay {
 public:
  struct Ends {
    pid_t watcher = -1, command = -1;
    std::vector<RelayedOutput> outputs;
    Descriptor words;  // to standard error, through its copier
    Descriptor signals;
    bool quiet = false;  // print nothing
  };
  explicit Relay(Ends ends);

  // Runs until the command has ended, the watcher has finished, and all output was passed on.
  // Returns the command's status as from waitpid(2).
  int run();

 private:
  void wait_for_events();
  void give_up();
  void handle(int signal, int code, pid_t sender);
  void window_changed(bool by_terminal, pid_t sender);
  void stop_with_the_job();
  void bury_children();
  void watcher_died(int status);
  void copier_died(const RelayedOutput& output, int status);
  void ring();
  bool all_passed_on() const;
  bool command_ended() const;
  void say(std::string_view words) const;

  Ends ends_;
  Descriptor process_;  // the command's
  static constexpr int kMostOutputs = 2;
  bool asked_to_end_ = false, buried_ = false, rung_ = false;
  int64_t give_up_ns_ = 0;
  int status_ = 0;
};

// Signals that the relay passes on: all except those that show a bug of our own, cannot be caught,
// or are better left to the kernel.
sigset_t passed_on_signals();

bool asks_to_end(int signal);  // Ctrl-C and the like

}  // namespace headway
