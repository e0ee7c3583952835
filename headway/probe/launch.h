#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

// Starts a command with its output going through us. Standard input is untouched. Where our own
// output is a terminal the command gets a terminal of the same size, else a pipe: it buffers as it
// would without us. Signals sent to us are passed on; Ctrl-C reaches it by itself.
//
//   Launch launch({"python", "train.py"});
//   while (launch.wait_for_output(0.05, taken)) {}
//   exit(launch.exit_status());
//
// One at a time, in the main thread: it handles the signals of the process.
class Launch {
 public:
  explicit Launch(const std::vector<std::string>& command);  // Error when it cannot be started
  ~Launch();
  Launch(const Launch&) = delete;

  pid_t pid() const { return pid_; }

  // Passes on what comes within `seconds`, and shows it to `taken`. False once the command has
  // ended and all it wrote was passed on.
  using Taken = std::function<void(std::string_view bytes, bool errors)>;
  bool wait_for_output(double seconds, const Taken& taken);

  // Somebody wanted it to end: Ctrl-C, or a signal sent to us.
  bool asked_to_end() const { return asked_to_end_; }
  // The command has ended and is not yet waited for: its /proc is still there.
  bool ended() const { return ended_; }
  // A grandchild may hold the output open for ever: a moment after the end nothing more is awaited.
  bool last_words_over() const;
  int wait_status();  // as waitpid(2) gives it; waits
  int exit_status();  // 128 + signal for one that was killed, as shells do

 private:
  struct Stream {
    int from = -1, to = -1;
    bool terminal = false;
  };
  Stream make_stream(int own, int& theirs);
  bool pass_on(Stream& stream, bool errors, const Taken& taken);
  void handle_signals();

  pid_t pid_ = -1;
  int signals_ = -1, process_ = -1;
  Stream out_, err_;
  bool ended_ = false, reaped_ = false, asked_to_end_ = false, told_ = false;
  int64_t ended_ns_ = 0;
  int status_ = 0;
};

}  // namespace headway
