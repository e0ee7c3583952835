#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "headway/doctor/verdict.h"

namespace headway {

// live_frame() on a terminal: takes the whole screen, redraws it in place in one write and follows
// its size. The destructor gives the screen back, with the last frame left on it, also after an
// exception. Without a terminal it prints a line when the verdict changes and every ten seconds of
// the run. Colours unless NO_COLOR is set; ASCII boxes where the locale is not UTF-8. Call from one
// thread; the caller must turn an interrupt into an exception.
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
  void close();  // may be called twice

  bool is_terminal() const { return terminal_; }

 private:
  void show_frame(const std::string& frame, const std::string& remark, int height);
  void show_line(const Trace& trace, const Verdict& verdict);
  void write(const std::string& text);

  std::FILE* const out_;
  const bool terminal_, color_, unicode_;
  bool taken_ = false;                 // the screen is ours
  std::string last_frame_;             // to be left on the screen at the end
  std::optional<State> last_verdict_;  // that a line was printed for
  double last_line_s_ = 0;
};

}  // namespace headway
