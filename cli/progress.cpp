#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/output.h"
#include "headway/core/clock.h"
#include "headway/core/print.h"

namespace headway::cli {
namespace {

constexpr int kBarWidth = 28;
constexpr int64_t kRedrawNs = 100'000'000;
constexpr int64_t kLogLineNs = 5'000'000'000;

}  // namespace

Progress::Progress(std::string doing, int64_t total, std::string unit)
    : doing_(std::move(doing)),
      unit_(std::move(unit)),
      total_(total),
      terminal_(isatty(STDERR_FILENO) != 0),
      started_ns_(now_ns()),
      shown_ns_(started_ns_) {}

void Progress::advance(int64_t n) {
  done_ += n;
  const int64_t now = now_ns();
  if (now - shown_ns_ < (terminal_ ? kRedrawNs : kLogLineNs)) return;
  shown_ns_ = now;
  show();
}

void Progress::show() {
  if (terminal_) {
    print(stderr, "\r{}\033[K", line());
  } else {
    print(stderr, "{}\n", line());
  }
  std::fflush(stderr);
  on_screen_ = terminal_;
}

void Progress::finish() {
  if (!on_screen_) return;
  print(stderr, "\r\033[K");
  std::fflush(stderr);
  on_screen_ = false;
}

double Progress::seconds() const { return static_cast<double>(now_ns() - started_ns_) * 1e-9; }

double Progress::per_second() const {
  return static_cast<double>(done_ - free_) / std::max(1e-9, seconds());
}

std::string Progress::bar() const {
  const int filled =
      static_cast<int>(kBarWidth * std::min(done_, total_) / std::max<int64_t>(1, total_));
  return fmt::format("[{:=<{}}{:<{}}]", "", filled, filled < kBarWidth ? ">" : "",
                     kBarWidth - filled);
}

std::string Progress::line() const {
  const double rate = per_second();
  if (total_ < 0) {
    return fmt::format("{}  {} {}  {:.0f}/s", doing_, with_commas(done_), unit_, rate);
  }
  const double left = rate > 0 ? static_cast<double>(total_ - done_) / rate : 0;
  return fmt::format("{} {}{}/{} {}  {:.0f}/s  {} left", doing_, terminal_ ? bar() + " " : "",
                     with_commas(done_), with_commas(total_), unit_, rate, time_text(left));
}

}  // namespace headway::cli
