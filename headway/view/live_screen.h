#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "headway/doctor/diagnose.h"

namespace headway {

// live_frame() on a terminal: takes the whole screen, redraws it in place in one write, follows its
// size, and gives it back with the last frame and the cursor on it when it goes, also by an
// exception. Where there is no terminal, a line when the verdict changes and every ten seconds of
// the run. Colours unless NO_COLOR is set; boxes of ASCII where the locale is not UTF-8. Call from
// one thread; an interrupt must be turned into an exception by the caller.
//
//   LiveScreen screen;
//   while (...) screen.show(trace, verdict, findings);
class LiveScreen {
 public:
  explicit LiveScreen(std::FILE* out = stderr);
  ~LiveScreen() { close(); }
  LiveScreen(const LiveScreen&) = delete;

  // `remark`: a line of the caller's own at the bottom.
  void show(const Trace& trace, const Verdict& verdict, const std::vector<Finding>& findings,
            const std::string& remark = "");
  void close();  // again is harmless

  bool is_terminal() const { return terminal_; }

 private:
  void show_frame(const std::string& frame, const std::string& remark, int height);
  void show_line(const Trace& trace, const Verdict& verdict);
  void write(const std::string& text);

  std::FILE* const out_;
  const bool terminal_, color_, unicode_;
  bool taken_ = false;                 // the screen is ours
  std::string last_frame_;             // to be left behind
  std::optional<State> last_verdict_;  // of the lines
  double last_line_s_ = 0;
};

}  // namespace headway
