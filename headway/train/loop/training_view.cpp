#include "headway/train/loop/training_view.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "headway/core/clock.h"
#include "headway/core/print.h"
#include "headway/core/text.h"

namespace headway {
namespace {

constexpr int64_t kLiveEveryNs = 100'000'000;
constexpr int64_t kLineEveryNs = 30'000'000'000;  // in a log, to show progress in long epochs
constexpr int kBarWidth = 22;

int terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 120;
}

std::string bar(int64_t done, int64_t total) {
  if (total <= 0) return "";
  const int full = static_cast<int>(kBarWidth * std::min(done, total) / total);
  return std::string(full, '=') + std::string(kBarWidth - full, '.');
}

// The first `columns` characters; none of UTF-8 is cut in two.
std::string cut(const std::string& text, int columns) {
  size_t end = 0;
  for (int shown = 0; end < text.size() && shown < columns; ++shown) {
    ++end;
    while (end < text.size() && (text[end] & 0xC0) == 0x80) ++end;
  }
  return text.substr(0, end);
}

}  // namespace

TrainingView::TrainingView(Show show) {
  const bool terminal = isatty(STDERR_FILENO) == 1;
  visible_ = show != Show::kNothing;
  live_ = show == Show::kLive || (show == Show::kAuto && terminal);
}

TrainingView::~TrainingView() {
  if (visible_ && (drawn_ || !first_phase_)) print(stderr, "\n");
}

void TrainingView::phase(const std::string& name) {
  const int64_t now = now_ns();
  if (visible_) {
    if (!phase_.empty()) {
      print(stderr, " ({})", duration_text(1e-9 * double(now - phase_since_ns_)));
    }
    if (!name.empty()) print(stderr, "{}{}", first_phase_ ? "" : " · ", name);
    std::fflush(stderr);
  }
  if (!name.empty()) first_phase_ = false;
  phase_ = name;
  phase_since_ns_ = now;
}

void TrainingView::phases_done() {
  if (first_phase_) return;
  phase("");
  if (visible_) print(stderr, "\n");
  first_phase_ = true;
}

void TrainingView::epoch_begin(int64_t epoch, int64_t epochs, int64_t steps) {
  epoch_ = epoch;
  epochs_ = epochs;
  steps_ = steps;
  first_step_ = -1;
  epoch_since_ns_ = now_ns();
  next_draw_ns_ = epoch_since_ns_ + (live_ ? 0 : kLineEveryNs);
}

void TrainingView::step(int64_t step, const StepTimes& times, const std::function<Logs()>& logs) {
  if (first_step_ < 0) {  // the first of an epoch does not count for the speed: it fills caches
    first_step_ = step;
    epoch_since_ns_ = now_ns();
    at_begin_ = times;
  }
  if (!visible_) return;
  const int64_t now = now_ns();
  if (now < next_draw_ns_) return;
  next_draw_ns_ = now + (live_ ? kLiveEveryNs : kLineEveryNs);
  const std::string text = line(step, times, logs(), false);
  if (live_) {
    redraw(text);
  } else {
    print(stderr, "{}\n", text);
  }
}

std::string TrainingView::line(int64_t step, const StepTimes& times, const Logs& logs,
                               bool done) const {
  const double seconds = 1e-9 * double(now_ns() - epoch_since_ns_);
  const double per_step = seconds / double(std::max<int64_t>(1, step - first_step_));
  const double waited = times[StepPhase::kWaitForData] - at_begin_[StepPhase::kWaitForData];
  std::string text = fmt::format("epoch {}/{}  {}", epoch_ + 1, epochs_, step);
  if (steps_ > 0) text += fmt::format("/{}  {}", steps_, bar(step, steps_));
  if (!done && steps_ > 0 && step > first_step_) {
    text += fmt::format("  ETA {}", duration_text(per_step * double(steps_ - step)));
  }
  text += fmt::format("  {}/step", duration_text(per_step));
  if (!logs.empty()) text += "  " + logs.str();
  text += fmt::format("  waiting for data {:.0f}%", seconds > 0 ? 100 * waited / seconds : 0);
  return text;
}

void TrainingView::epoch_end(int64_t step, const StepTimes& times, const Logs& logs) {
  if (!visible_) return;
  clear();
  print(stderr, "{}\n", line(step, times, logs, true));
}

void TrainingView::say(const std::string& text) {
  if (!visible_) return;
  clear();
  if (!first_phase_) print(stderr, "\n");
  print(stderr, "{}\n", text);
}

void TrainingView::redraw(const std::string& text) {
  print(stderr, "\r{}\033[K", cut(text, terminal_width() - 1));
  std::fflush(stderr);
  drawn_ = true;
}

void TrainingView::clear() {
  if (drawn_) print(stderr, "\r\033[K");
  drawn_ = false;
}

}  // namespace headway
