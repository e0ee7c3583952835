#include "headway/view/frame_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headway/core/text.h"

namespace headway {
namespace {

Ink ink_of(State state) {
  if (state == State::kHealthy) return Ink::kGood;
  if (state == State::kStuck || state == State::kCrashed) return Ink::kBad;
  return state == State::kSlow ? Ink::kNotice : Ink::kStrong;
}

Ink ink_of(Severity severity) {
  if (severity >= Severity::kHigh) return Ink::kBad;
  return severity == Severity::kWarning ? Ink::kNotice : Ink::kStrong;
}

}  // namespace

std::string repeated(std::string_view glyph, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += glyph;
  return out;
}

std::string percent(double share) { return fmt::format("{:.0f}%", 100 * share); }

int part_of(double share, int whole) {
  return share > 0 ? static_cast<int>(std::lround(std::min(share, 1.0) * whole)) : 0;
}

void put_meter(Canvas& canvas, int x, int y, int width, double share, Ink ink) {
  const int full = part_of(share, width);
  canvas.put(canvas.put(x, y, repeated("█", full), ink), y, repeated("░", width - full),
             Ink::kSoft);
}

int put_head(Canvas& canvas, const std::string& what, double seconds, const Verdict& verdict) {
  const std::string time = duration_text(seconds);
  const int at = canvas.width() - static_cast<int>(time.size());
  const int x = canvas.put(0, 0, "headway ", Ink::kStrong);
  canvas.put_within(x, 0, at - x - 1, what, Ink::kSoft);
  canvas.put(at, 0, time, Ink::kSoft);
  return canvas.put_wrapped(0, 1, 2, verdict.sentence, ink_of(verdict.state)) + 1;
}

void put_findings(Canvas& canvas, int y, const std::vector<Finding>& findings) {
  const int last = canvas.height() - 1;
  for (const Finding& f : findings) {
    if (y > last) return;
    const int x =
        canvas.put(0, y, fmt::format("{:<9}", severity_name(f.severity)), ink_of(f.severity));
    std::string text = f.summary;
    if (f.predicted_gain && *f.predicted_gain >= 1.05) {
      text += fmt::format(" (repaired: about {:.1f}x as fast)", *f.predicted_gain);
    }
    y = canvas.put_wrapped(x, y, last, text, Ink::kStrong);
    if (!f.evidence.empty() && y + 2 <= last)
      y = canvas.put_wrapped(x, y, last, f.evidence[0], Ink::kSoft);
    if (!f.fix.empty() && y <= last) {
      canvas.put(0, y, "  fix");
      y = canvas.put_wrapped(x, y, last, f.fix);
    }
  }
}

std::string text_of(const Canvas& canvas, bool color) {
  std::string text;
  for (const std::string& row : canvas.rows(color)) text += row + "\n";
  return text;
}

}  // namespace headway
