#include "headway/view/outside_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "headway/core/text.h"
#include "headway/view/frame_parts.h"

namespace headway {
namespace {

constexpr int kLabel = 13;       // columns of the words on the left
constexpr int kLowScreen = 16;   // rows; below, only verdict, progress and findings
constexpr size_t kGroups = 3;    // of threads that are shown by name
constexpr double kWorks = 0.02;  // cores; groups that use less are not shown

int put_label(Canvas& canvas, int y, const char* label) {
  canvas.put(0, y, label, Ink::kSoft);
  return kLabel;
}

int put_seen_progress(Canvas& canvas, int y, const SeenProgress& p, const Verdict& verdict) {
  if (p.steps == 0 && p.epoch == 0) return y;
  int x = put_label(canvas, y, "progress");
  std::string text;
  if (p.epoch > 0 && p.epochs > 0) text = fmt::format("epoch {}/{}  ", p.epoch, p.epochs);
  if (p.epoch > 0 && p.epochs <= 0) text = fmt::format("epoch {}  ", p.epoch);
  x = canvas.put(x, y, text, Ink::kStrong);
  std::string rest = p.steps_per_epoch > 0 ? fmt::format(" {}/{}", with_commas(p.step),
                                                         with_commas(p.steps_per_epoch))
                                           : fmt::format("step {}", with_commas(p.step));
  if (p.step_s > 0) rest += fmt::format("  {}/step", duration_text(p.step_s));
  if (p.losses > 0) rest += fmt::format("  loss {:.4g}", p.loss);
  if (verdict.eta_s) rest += fmt::format("  ends in {}", duration_text(*verdict.eta_s));
  if (p.steps_per_epoch > 0) {
    const int bar = std::clamp(canvas.width() - x - static_cast<int>(rest.size()), 8, 30);
    put_meter(canvas, x, y, bar, double(p.step) / double(p.steps_per_epoch), Ink::kGood);
    x += bar;
  }
  canvas.put_within(x, y, canvas.width() - x, rest);
  return y + 1;
}

struct Kind {
  Activity activity;
  const char* words;
  std::string_view letter;  // instead of a colour, if there are none
};
constexpr Kind kKinds[] = {{Activity::kFetch, "waits for a batch", "W"},
                           {Activity::kProduce, "makes samples", "M"},
                           {Activity::kStep, "step", "S"},
                           {Activity::kTrace, "compiles", "C"},
                           {Activity::kImport, "loads modules", "L"},
                           {Activity::kCollective, "other ranks", "R"},
                           {Activity::kCallback, "callbacks", "B"},
                           {Activity::kCheckpoint, "checkpoint", "K"},
                           {Activity::kValidate, "validates", "V"},
                           {Activity::kOther, "other code", "o"}};
constexpr size_t kOther = std::size(kKinds) - 1;

size_t kind_of(Activity activity) {
  const Activity name = activity == Activity::kRendezvous ? Activity::kCollective : activity;
  return static_cast<size_t>(
      std::find_if(kKinds, kKinds + kOther, [&](const Kind& k) { return name == k.activity; }) -
      kKinds);
}

// What the main thread did recently, as a bar and in words.
int put_activities(Canvas& canvas, int y, const Outside& seen, bool color) {
  std::array<int64_t, std::size(kKinds)> counts{};
  for (const SeenStack& stack : seen.stacks) {
    if (stack.process == Role::kMain && stack.main_thread)
      counts[kind_of(stack.activity)] += stack.recent;
  }
  const auto total = double(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
  if (total == 0) return y;
  int x = put_label(canvas, y, "main thread");
  const int width = canvas.width() - x;
  const auto glyph = [&](size_t kind) { return color ? "█" : kKinds[kind].letter; };
  const auto ink = [](size_t kind) { return kind == kOther ? Ink::kSoft : phase_ink(kind); };
  double before = 0;
  std::vector<size_t> order;
  for (size_t kind = 0; kind < counts.size(); ++kind) {
    const int from = part_of(before / total, width);
    before += double(counts[kind]);
    const int to = part_of(before / total, width);
    canvas.put(x + from, y, repeated(glyph(kind), to - from), ink(kind));
    if (counts[kind] > 0) order.push_back(kind);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return counts[a] > counts[b]; });
  for (const size_t kind : order) {
    const std::string text =
        fmt::format(" {} {}  ", kKinds[kind].words, percent(double(counts[kind]) / total));
    if (x + 1 + static_cast<int>(text.size()) > canvas.width() + 2) break;
    x = canvas.put(x, y + 1, glyph(kind), ink(kind));
    x = canvas.put(x, y + 1, text);
  }
  return y + 2;
}

// The user's line at which the main thread is.
int put_line(Canvas& canvas, int y, const SeenProcess& main) {
  for (const SeenFrame& frame : main.stack) {
    if (!frame.users) continue;
    const int x = put_label(canvas, y, "now at");
    const int room = canvas.width() - x;
    const std::string file = frame.file.substr(frame.file.rfind('/') + 1);
    canvas.put_within(x, y, room, fmt::format("{}:{} in {}", file, frame.line, frame.function));
    if (frame.text.empty()) return y + 1;
    canvas.put_within(x + 2, y + 1, room - 2, frame.text, Ink::kStrong);
    return y + 2;
  }
  return y;
}

int put_processes(Canvas& canvas, int y, const Outside& seen) {
  const SeenProcess& main = seen.processes[0];
  std::string text =
      fmt::format("main {:.2f} cores, {}", main.cores, size_text(double(main.rss_bytes)));
  double cores = 0;
  std::map<Wait, int64_t> waits;
  int64_t workers = 0;
  for (const SeenProcess& process : seen.processes) {
    if (process.role != Role::kWorker || !process.there()) continue;
    ++workers;
    cores += process.cores;
    if (process.cores < kWorks && process.wait != Wait::kNothing) ++waits[process.wait];
  }
  if (workers > 0)
    text += fmt::format("; {} worker{} {:.2f} cores", workers, workers == 1 ? "" : "s", cores);
  for (const auto& [wait, count] : waits)
    text += fmt::format(", {} wait: {}", count, text_of(wait));
  const int x = put_label(canvas, y, "processes");
  canvas.put_within(x, y, canvas.width() - x, text);
  return y + 1;
}

int put_threads(Canvas& canvas, int y, const Outside& seen) {
  std::vector<SeenThreads> busy;
  for (const SeenThreads& group : seen.threads)
    if (group.cores >= kWorks) busy.push_back(group);
  if (busy.empty()) return y;
  std::stable_sort(busy.begin(), busy.end(), [](auto& a, auto& b) { return a.cores > b.cores; });
  busy.resize(std::min(busy.size(), kGroups));
  std::string text;
  for (const SeenThreads& group : busy)
    text += fmt::format("{}{}{} {:.2f} cores", text.empty() ? "" : ", ", group.name,
                        group.count > 1 ? fmt::format(" x{}", group.count) : "", group.cores);
  const int x = put_label(canvas, y, "threads");
  canvas.put_within(x, y, canvas.width() - x, text);
  return y + 1;
}

int put_gpus(Canvas& canvas, int y, const Outside& seen) {
  for (const SeenGpu& gpu : seen.gpus) {
    if (!gpu.used) continue;
    int x = canvas.put(put_label(canvas, y, "GPU"), y, gpu.name + " ");
    put_meter(canvas, x, y, 20, gpu.recent, Ink::kGood);
    canvas.put_within(
        x + 20, y, canvas.width() - x - 20,
        fmt::format(" {}, {} of {}", percent(gpu.recent), size_text(double(gpu.memory_used)),
                    size_text(double(gpu.memory_bytes))));
    ++y;
  }
  return y;
}

}  // namespace

std::string outside_frame(const Trace& trace, const Verdict& verdict,
                          const std::vector<Finding>& findings, int width, int height, bool color) {
  const Outside& seen = trace.outside;
  Canvas canvas(width, height);
  int y = put_head(canvas, fmt::format("{}  {}", seen.pid, seen.command), seen.at_s, verdict);
  y = put_seen_progress(canvas, y, seen.progress, verdict);
  if (height >= kLowScreen && !seen.processes.empty()) {
    y = put_activities(canvas, y, seen, color);
    y = put_line(canvas, y, seen.processes[0]);
    y = put_processes(canvas, y, seen);
    y = put_threads(canvas, y, seen);
    y = put_gpus(canvas, y, seen);
  }
  if (!seen.blind.empty()) {
    y = canvas.put_wrapped(0, y, canvas.height() - 1, "no Python stacks: " + seen.blind,
                           Ink::kNotice);
  }
  put_findings(canvas, y + 1, findings);
  return text_of(canvas, color);
}

}  // namespace headway
