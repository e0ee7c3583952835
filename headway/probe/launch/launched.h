#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "headway/probe/launch/copier.h"
#include "headway/probe/launch/descriptors.h"

namespace headway {

// A command that we started, as its watcher sees it: a copy of its output, when it ends, whether it
// was asked to end. The watcher is the command's parent but never reaps it with waitpid(2): the
// relay, which inherits the command when the watcher is gone, needs its status.
class Launched {
 public:
  struct Copy {
    Descriptor bytes, bell;  // see copier.h
    bool errors = false;     // of standard error only
  };
  Launched(pid_t pid, std::vector<Copy> copies, Descriptor signals);

  pid_t pid() const { return pid_; }

  // A piece of output; `lost_before`: bytes lost between the last piece and this one because the
  // watcher did not read fast enough.
  struct Piece {
    std::string_view bytes;
    int64_t lost_before = 0;
    bool errors = false;
  };
  // Passes what comes within `seconds` to `taken`. False once the command has ended and all its
  // output was passed on to the user.
  using Taken = std::function<void(const Piece&)>;
  bool wait_for_output(double seconds, const Taken& taken);

  // It was asked to end: by Ctrl-C, or by a signal sent to headway.
  bool asked_to_end() const { return asked_to_end_; }
  // The command has ended; its /proc entry still exists.
  bool ended() const { return ended_; }
  int wait_status() const { return status_; }  // after it ended, as from waitpid(2)
  int exit_status() const;                     // 128 + signal if it was killed
  // How long we were stopped in all, for example by Ctrl-Z.
  int64_t stopped_ns() const { return stopped_ns_; }

 private:
  struct Source {
    Copy copy;
    CopyReader reader;
  };
  void handle_signals();
  void note_end();
  void note_standstill(int64_t wanted_ns);
  bool all_read() const;

  pid_t pid_;
  std::vector<Source> sources_;
  Descriptor signals_;
  bool ended_ = false, asked_to_end_ = false, told_ = false;
  int64_t awake_ns_;  // when we last ran
  int64_t ended_ns_ = 0, stopped_ns_ = 0;
  int status_ = 0;
};

// Signals that the watcher handles: what the terminal sends to the whole job must not end it.
sigset_t watcher_signals();

int exit_status_of(int wait_status);  // as shells show it

}  // namespace headway
