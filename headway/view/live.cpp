#include "headway/view/live.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headway/doctor/evidence.h"
#include "headway/view/boxes.h"
#include "headway/view/canvas.h"
#include "headway/view/frame_parts.h"
#include "headway/view/outside_frame.h"
#include "headway/view/series.h"

namespace headway {
namespace {

constexpr double kWindowS = 15;  // what "now" means for boxes and bars
constexpr int kNarrowestBox = 15, kWidestBox = 34, kArrow = 3;
constexpr int kRowsForCurves = 17, kRowsForBoxes = 21;  // with fewer rows the drawing is left out

struct Position {
  int64_t epoch, step, of;  // of: -1 if not known
  std::string left;
};
Position position_of(const Evidence& e, const Verdict& verdict) {
  const int64_t of = e.run.steps_per_epoch;
  Position out{e.last.epoch, e.last.step_in_epoch, of, ""};
  if (e.steady() && of > 0 && e.running() && !e.stuck() && out.step <= of) {
    out.left =
        "epoch ends in " + duration_text(double(of - out.step) * e.seconds / double(e.steps));
  }
  if (verdict.eta_s && !e.stuck()) out.left += ", all in " + duration_text(*verdict.eta_s);
  if (!e.running()) out.left = e.trace.ending;
  return out;
}

std::string epoch_text(const Evidence& e, const Position& p) {
  // A run that has ended has finished its last epoch.
  const int64_t epoch = e.run.epochs > 0 ? std::min(p.epoch + 1, e.run.epochs) : p.epoch + 1;
  return e.run.epochs > 0 ? fmt::format("epoch {}/{}", epoch, e.run.epochs)
                          : fmt::format("epoch {}", epoch);
}

int put_progress(Canvas& canvas, int y, const Evidence& e, const Verdict& verdict) {
  if (!e.started()) {
    const std::string_view doing =
        e.last.phase == RunPhase::kNone ? "starting" : text_of(e.last.phase);
    canvas.put_within(0, y, canvas.width(),
                      fmt::format("no step yet: {} for {}", doing, duration_text(e.last.phase_s)));
    return y + 2;
  }
  const Position p = position_of(e, verdict);
  int x = canvas.put(0, y, epoch_text(e, p) + "  ", Ink::kStrong);
  if (p.of <= 0) {
    canvas.put_within(x, y, canvas.width() - x, fmt::format("step {}", with_commas(p.step)));
    return y + 2;
  }
  const std::string count =
      fmt::format(" {}/{}  {}", with_commas(p.step), with_commas(p.of), p.left);
  const int bar = std::clamp(canvas.width() - x - static_cast<int>(count.size()), 8, 40);
  put_meter(canvas, x, y, bar, double(p.step) / double(p.of), Ink::kGood);
  canvas.put_within(x + bar, y, canvas.width() - x - bar, count);
  return y + 2;
}

// As many boxes as fit: the stages that work least are left out first.
std::vector<Box> fitting(std::vector<Box> boxes, int width) {
  while (boxes.size() > 2 && int(boxes.size()) * (kNarrowestBox + kArrow) - kArrow > width) {
    size_t idlest = 0;
    for (size_t i = 0; i + 1 < boxes.size(); ++i) {
      const bool less = boxes[i].utilisation < boxes[idlest].utilisation;
      if (!boxes[i].hot && (boxes[idlest].hot || less)) idlest = i;
    }
    boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(idlest));
  }
  return boxes;
}

void put_box(Canvas& canvas, int x, int y, int width, const Box& box, bool stuck) {
  const Ink frame = box.hot ? (stuck ? Ink::kBad : Ink::kNotice) : Ink::kSoft;
  const std::string_view flat = box.hot ? "═" : "─", side = box.hot ? "║" : "│";
  const int inner = width - 4;
  canvas.put(x, y, (box.hot ? "╔" : "┌") + repeated(flat, width - 2) + (box.hot ? "╗" : "┐"),
             frame);
  if (box.hot) canvas.put(x + 2, y, stuck ? " hangs here " : " sets pace ", frame);
  for (int row = 1; row < 4; ++row) {
    canvas.put(x, y + row, side, frame);
    canvas.put(x + width - 1, y + row, side, frame);
  }
  canvas.put(x, y + 4, (box.hot ? "╚" : "└") + repeated(flat, width - 2) + (box.hot ? "╝" : "┘"),
             frame);
  canvas.put_within(x + 2, y + 1, inner, box.name, box.hot ? Ink::kStrong : Ink::kPlain);
  if (box.utilisation >= 0) {
    put_meter(canvas, x + 2, y + 2, inner - 5, box.utilisation, box.hot ? frame : Ink::kGood);
    canvas.put(x + width - 6, y + 2, fmt::format("{:>4}", percent(box.utilisation)));
  }
  std::string rate =
      fmt::format("{:.3g}{}", box.per_second, box.kind == Box::Kind::kTraining ? " steps/s" : "/s");
  if (box.queue_capacity > 0) rate += fmt::format("  {}/{}", box.queue_fill, box.queue_capacity);
  canvas.put_within(x + 2, y + 3, inner, rate, Ink::kSoft);
}

int put_boxes(Canvas& canvas, int y, const std::vector<Box>& all, bool stuck) {
  const std::vector<Box> boxes = fitting(all, canvas.width());
  if (boxes.empty()) return y;
  const int n = static_cast<int>(boxes.size());
  const int width = std::min(kWidestBox, (canvas.width() - kArrow * (n - 1)) / n);
  int x = 0;
  for (const Box& box : boxes) {
    if (x > 0) x = canvas.put(x, y + 2, "──▶", Ink::kSoft);
    put_box(canvas, x, y, width, box, stuck);
    x += width;
  }
  return y + 6;
}

StepTimes recent_times(const Trace& trace) {
  const TraceReading& last = trace.samples.back();
  StepTimes out = last.times;
  for (size_t i = trace.samples.size(); i-- > 0;) {
    const TraceReading& before = trace.samples[i];
    if (last.at_s - before.at_s < kWindowS) continue;
    for (size_t k = 0; k < kStepPhases; ++k) out.seconds[k] -= before.times.seconds[k];
    if (out.total() <= 0) out = last.times;  // no step ended meanwhile
    break;
  }
  return out;
}

// A bar of coloured blocks, or of letters if there are no colours, with a legend.
int put_breakdown(Canvas& canvas, int y, const Trace& trace, bool color) {
  constexpr std::string_view kLetters[] = {"W", "U", "F", "B", "O", "M", "C", "K", "V", "N"};
  if (trace.samples.empty()) return y;
  const StepTimes times = recent_times(trace);
  const double total = times.total();
  if (total <= 0) return y;
  int x = canvas.put(0, y, "step  ");
  const int width = canvas.width() - x;
  double before = 0;
  std::vector<size_t> order;
  for (size_t i = 0; i < kStepPhases; ++i) {
    const int from = part_of(before / total, width);
    before += times.seconds[i];
    const int to = part_of(before / total, width);
    canvas.put(x + from, y, repeated(color ? "█" : kLetters[i], to - from), phase_ink(i));
    if (times.seconds[i] >= 0.005 * total) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return times.seconds[a] > times.seconds[b]; });
  for (const size_t i : order) {
    const std::string text =
        fmt::format(" {} {}  ", kStepPhaseNames[i], percent(times.seconds[i] / total));
    if (x + 1 + static_cast<int>(text.size()) > canvas.width() + 2) break;
    x = canvas.put(x, y + 1, color ? "█" : kLetters[i], phase_ink(i));
    x = canvas.put(x, y + 1, text);
  }
  return y + 3;
}

int put_curve(Canvas& canvas, int y, const char* label, const Series& series) {
  constexpr std::string_view kBars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const auto shown = [&](double v) {
    return series.unit == Unit::kSeconds ? duration_text(v) : fmt::format("{:.3g}", v);
  };
  const std::vector<Point>& points = series.points;
  double low = series.unit == Unit::kSeconds ? 0 : points[0].value, high = points[0].value;
  for (const Point& p : points) low = std::min(low, p.value), high = std::max(high, p.value);
  int x = canvas.put(0, y, fmt::format("{:<10}{:>9} ", label, shown(points.front().value)));
  const int room = std::max(8, canvas.width() - x - 10);
  const size_t skip = points.size() > size_t(room) ? points.size() - size_t(room) : 0;
  for (size_t i = skip; i < points.size(); ++i) {
    const double share = high > low ? (points[i].value - low) / (high - low) : 0;
    x = canvas.put(x, y, kBars[part_of(share, std::size(kBars) - 1)], Ink::kGood);
  }
  canvas.put_within(x, y, canvas.width() - x, " " + shown(points.back().value));
  return y + 1;
}

int put_curves(Canvas& canvas, int y, const Trace& trace) {
  const int begun = y;
  for (const Series& series :
       series_of(trace, static_cast<size_t>(std::max(8, canvas.width() - 30)))) {
    if (series.points.size() < 2) continue;
    if (series.line == SeriesLine::kLoss) y = put_curve(canvas, y, "loss", series);
    if (series.line == SeriesLine::kStepTime) y = put_curve(canvas, y, "step time", series);
  }
  return y == begun ? y : y + 1;
}

}  // namespace

std::string live_frame(const Trace& trace, const Verdict& verdict,
                       const std::vector<Finding>& findings, int width, int height, bool color) {
  if (trace.outside.seen) return outside_frame(trace, verdict, findings, width, height, color);
  const Evidence e(trace);
  Canvas canvas(width, height);
  std::string what = trace.run.model;
  what += (what.empty() ? "on " : " on ") + trace.run.device;
  int y = put_head(canvas, what, e.last.at_s, verdict);
  y = put_progress(canvas, y, e, verdict);
  if (height >= kRowsForBoxes) {
    y = put_boxes(canvas, y, boxes_of(trace, findings, kWindowS), verdict.state == State::kStuck);
  }
  y = put_breakdown(canvas, y, trace, color);
  if (height >= kRowsForCurves) y = put_curves(canvas, y, trace);
  put_findings(canvas, y, findings);
  return text_of(canvas, color);
}

std::string live_line(const Trace& trace, const Verdict& verdict) {
  const Evidence e(trace);
  std::string line = duration_text(e.last.at_s);
  if (e.started()) {
    const Position p = position_of(e, verdict);
    line += fmt::format("  {}  {}", epoch_text(e, p), p.step);
    if (p.of > 0) line += fmt::format("/{}", p.of);
    if (e.step_s() > 0) line += fmt::format("  {}/step", duration_text(e.step_s()));
    if (e.last.losses > 0) {
      const auto pieces = stretches(trace, 20, true);
      if (!pieces.empty()) line += fmt::format("  loss {:.4g}", pieces.back().loss);
    }
  }
  return line + "  " + verdict.sentence;
}

}  // namespace headway
