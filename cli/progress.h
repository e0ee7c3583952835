#pragma once

#include <cstdint>
#include <string>

namespace headway::cli {

// How far a verb has come, on standard error: a bar that is redrawn when that is a terminal, else a
// line every few seconds, so that short runs leave no trace in a log. Call from one thread.
//
//   Progress progress("drawing", 2000, "images");
//   while (...) progress.advance();
//   progress.finish();
class Progress {
 public:
  Progress(std::string doing, int64_t total, std::string unit);  // total -1: not known
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;

  // `n` more are done. Cheap: looks at the clock, writes at most ten times a second.
  void advance(int64_t n = 1);
  // `n` were there from the start (a run that is continued); they do not count as speed.
  void already(int64_t n) { done_ += n, free_ += n; }
  // Takes the bar away.
  void finish();

  int64_t done() const { return done_; }
  double seconds() const;
  double per_second() const;

 private:
  void show();
  std::string line() const;
  std::string bar() const;

  const std::string doing_, unit_;
  const int64_t total_;
  const bool terminal_;
  const int64_t started_ns_;
  int64_t shown_ns_;
  int64_t done_ = 0, free_ = 0;
  bool on_screen_ = false;
};

}  // namespace headway::cli
