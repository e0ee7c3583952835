#include "headway/view/live_screen.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <sstream>

#include "headway/core/terminal.h"
#include "headway/view/canvas.h"
#include "headway/view/live.h"

namespace headway {
namespace {

constexpr double kLineEveryS = 10;
// Switches to the alternate screen, without cursor, and back. Terminals with "synchronised update"
// show a frame at once; the others ignore it.
constexpr const char* kTake = "\033[?1049h\033[?25l";
constexpr const char* kGiveBack = "\033[?25h\033[?1049l";
constexpr const char* kBeginFrame = "\033[?2026h";
constexpr const char* kEndFrame = "\033[?2026l";

struct Size {
  int width, height;
};
Size size_of(std::FILE* out) {
  winsize size{};
  if (ioctl(fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    return {80, 24};
  }
  return {size.ws_col, size.ws_row};
}

}  // namespace

LiveScreen::LiveScreen(std::FILE* out)
    : out_(out),
      terminal_(moves_cursor(out)),
      color_(terminal_ && wants_color()),
      unicode_(shows_utf8()) {}

void LiveScreen::show(const Trace& trace, const Verdict& verdict,
                      const std::vector<Finding>& findings, const std::string& remark) {
  if (!terminal_) return show_line(trace, verdict);
  const Size size = size_of(out_);  // read each time: it may have changed
  const int rows = size.height - (remark.empty() ? 0 : 1);
  std::string frame = live_frame(trace, verdict, findings, size.width, rows, color_);
  Canvas bottom(size.width, 1);
  bottom.put_within(0, 0, size.width, remark, Ink::kNotice);
  const std::vector<std::string> row = bottom.rows(color_);
  show_frame(frame, row.empty() ? "" : row[0], size.height);
}

void LiveScreen::show_frame(const std::string& frame, const std::string& remark, int height) {
  last_frame_ = unicode_ ? frame : ascii_of(frame);
  std::string text = taken_ ? kBeginFrame : std::string(kTake) + kBeginFrame;
  taken_ = true;
  // Each row is positioned separately: a newline at the bottom would scroll, and clearing after a
  // full row would delete its last letter.
  const auto put = [&](int row, const std::string& line) {
    text += fmt::format("\033[{};1H\033[2K{}", row, line);
  };
  std::istringstream rows(last_frame_);
  int row = 1;
  for (std::string line; std::getline(rows, line); ++row) put(row, line);
  if (row <= height) text += fmt::format("\033[{};1H\033[J", row);
  if (!remark.empty()) put(height, unicode_ ? remark : ascii_of(remark));
  write(text + kEndFrame);
}

void LiveScreen::show_line(const Trace& trace, const Verdict& verdict) {
  const double at = trace.samples.empty() ? 0 : trace.samples.back().at_s;
  if (verdict.state == last_verdict_ && at - last_line_s_ < kLineEveryS) return;
  last_verdict_ = verdict.state;
  last_line_s_ = at;
  write(live_line(trace, verdict) + "\n");
}

void LiveScreen::close() {
  if (!taken_) return;
  taken_ = false;
  write(kGiveBack + last_frame_);
}

void LiveScreen::write(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), out_);
  std::fflush(out_);
}

}  // namespace headway
