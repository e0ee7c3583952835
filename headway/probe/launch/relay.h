#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <string_view>
#include <vector>

#include "headway/probe/launch/descriptors.h"
#include "headway/probe/launch/output_stream.h"

namespace headway {

// A copier, as the relay knows it.
struct RelayedOutput {
  pid_t copier = -1;
  Descriptor bell;  // see copier.h
  // Where the user has a terminal: his, and the command's, which gets the same size.
  Descriptor users_terminal, terminal;
  const char* name = "";
};

// The process that the user started: passes signals on to the command and ends with its status.
// Whatever becomes of the watcher, it stays: the command becomes its child then (it is the child
// subreaper). It reads nothing of what passes and allocates nothing.
class Relay {
 public:
  struct Ends {
    pid_t watcher = -1, command = -1;
    std::vector<RelayedOutput> outputs;
    Descriptor words;  // to standard error, by its copier
    Descriptor signals;
    bool quiet = false;  // say nothing
  };
  explicit Relay(Ends ends);

  // Until the command has ended, the watcher has said its last, and all was passed on to the user.
  // The command's status, as waitpid(2) gives it.
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

// What is passed on when sent to the relay: all but what tells of a mistake of our own, cannot be
// caught, or is better left to the kernel.
sigset_t passed_on_signals();

bool asks_to_end(int signal);  // Ctrl-C and the like

}  // namespace headway
