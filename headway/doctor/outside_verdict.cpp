#include "headway/doctor/outside_verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "headway/doctor/rules/outside.h"
#include "headway/doctor/rules/rules.h"

namespace headway {
namespace {

constexpr double kNothingNewS = 10;
constexpr double kIdleCores = 0.05;
constexpr double kMoves = 3;  // a stack that changed within these seconds

std::optional<double> seconds_left(const SeenProgress& p) {
  if (p.step_s <= 0 || p.steps_per_epoch <= 0 || p.steps < 3) return std::nullopt;
  const double epochs = std::max({1.0, double(p.epochs), double(p.epoch)});
  const double now = std::max(1.0, double(p.epoch));
  const double left = (epochs - now + 1) * double(p.steps_per_epoch) - double(p.step);
  return left < 0 ? std::nullopt : std::optional(left * p.step_s);
}

std::string where_now(const OutsideEvidence& e) {
  const SeenProcess* main = e.main();
  if (!main) return "";
  for (const SeenFrame& frame : main->stack)
    if (frame.users) return place_text(frame);
  return "";
}

std::string pace(const OutsideEvidence& e) {
  const SeenProgress& p = e.seen.progress;
  std::string text;
  if (p.steps >= 3 && p.step_s > 0) text = fmt::format("{} per step", duration_text(p.step_s));
  if (p.epoch > 0 && p.epochs > 0)
    text += fmt::format("{}epoch {} of {}", text.empty() ? "" : ", ", p.epoch, p.epochs);
  if (const auto left = seconds_left(p))
    text += fmt::format(", ends in about {}", duration_text(*left));
  for (const SeenGpu& gpu : e.seen.gpus)
    if (gpu.used) text += fmt::format(", {} busy {:.0f}%", gpu.name, 100 * gpu.utilisation);
  return text;
}

// Nothing moves and nothing works.
bool stands_still(const OutsideEvidence& e) {
  const SeenProcess* main = e.main();
  if (main && main->wait == Wait::kPoll && !e.training() && !e.stepped()) return false;  // asked nothing
  return e.running() && e.seen.main_still_s >= kNothingNewS && e.seen.quiet_s >= kNothingNewS &&
         e.seen.cores < kIdleCores;
}

// No framework: a pool of processes does what there is to do, and its results come.
bool workers_work(const OutsideEvidence& e) {
  const auto works = [](const SeenStack& s) { return s.process == Role::kWorker && producing(s); };
  return e.seen.framework == Framework::kNone && e.workers() > 0 && e.seen.quiet_s < kMoves &&
         e.late_share(works) > 0.5;
}

std::string what_it_does(const OutsideEvidence& e) {
  const std::string place = where_now(e);
  const std::string at = place.empty() ? "" : " at " + place;
  if (e.training())
    return fmt::format("in training for {}, no step seen yet{}", duration_text(e.training_s()), at);
  const auto importing = [](const SeenStack& s) { return on_main(s) && s.activity == Activity::kImport; };
  if (e.late_share(importing) > 0.5) return "loading modules";
  if (!e.seen.blind.empty()) return fmt::format("no training call seen; {}", e.seen.blind);
  return fmt::format("no training call seen yet{}", at);
}

Verdict crashed(const OutsideEvidence& e) {
  Verdict out{.state = State::kCrashed};
  const SeenOutput& output = e.seen.output;
  out.sentence = "crashed: " + e.seen.exit;
  if (!output.exception.empty()) out.sentence += "; " + output.exception;
  if (output.raised_at.line > 0) out.sentence += " at " + place_text(output.raised_at);
  return out;
}

Verdict not_watched(const std::string& reason) {
  return {.state = State::kNotWatched, .sentence = "not watched: " + reason};
}

// Another's process does not tell how it ended.
Verdict ended(const OutsideEvidence& e, const std::vector<Finding>& findings) {
  Verdict out{.state = State::kEnded};
  out.sentence = fmt::format("ended: the process is gone after {} of watching, nobody can say how",
                             duration_text(e.seen.at_s));
  const std::string before = grave(findings) ? findings[0].summary : pace(e);
  if (!before.empty()) out.sentence += "; before: " + before;
  return out;
}

}  // namespace

std::vector<Finding> diagnose_outside(const Trace& trace) {
  if (!trace.outside.unwatched.empty()) return {};
  const OutsideEvidence evidence(trace);
  std::vector<Finding> findings;
  const auto add = [&](std::optional<Finding> found) {
    if (!found) return;
    for (const Finding& known : findings)
      if (known.cause == found->cause) return;
    findings.push_back(std::move(*found));
  };
  for (const auto& family : {outside_process_rules(), outside_input_rules(), outside_loop_rules()})
    for (const OutsideRule rule : family) add(rule(evidence));
  const Evidence inside(trace);  // what the kernel tells is the same from both sides
  for (const Rule rule : memory_rules()) {
    auto found = rule(inside);
    // A cache or a shuffle buffer grows as well, in the first epoch.
    if (found && found->cause == Cause::kHostMemoryLeak && trace.outside.progress.epoch < 2) continue;
    add(std::move(found));
  }
  // The general one says nothing more once a particular one is known.
  const auto particular = [](const Finding& f) {
    return f.severity >= Severity::kWarning && f.cause != Cause::kInputBound &&
           f.cause != Cause::kDecodeSaturated;
  };
  if (std::any_of(findings.begin(), findings.end(), particular))
    std::erase_if(findings, [](const Finding& f) { return f.cause == Cause::kInputBound; });
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  return findings;
}

Verdict outside_verdict(const Trace& trace, const std::vector<Finding>& findings) {
  const OutsideEvidence e(trace);
  if (!e.seen.unwatched.empty()) return not_watched(e.seen.unwatched);
  if (e.seen.gone && e.seen.exit.empty()) return ended(e, findings);
  if (!e.running() && e.seen.exit_status != 0) return crashed(e);
  if (!e.seen.launched && !e.seen.blind.empty() && !grave(findings))
    return not_watched(e.seen.blind);
  Verdict out;
  out.eta_s = e.running() ? seconds_left(e.seen.progress) : std::nullopt;
  const std::string speed = pace(e);
  std::string what = !speed.empty() ? speed : what_it_does(e);
  if (!e.running()) {
    out.state = State::kFinished;
    what = grave(findings) ? findings[0].summary : speed.empty() ? "without trouble seen" : speed;
  } else if (grave(findings)) {
    const bool stuck =
        findings[0].severity == Severity::kCritical && e.seen.quiet_s >= kNothingNewS / 2;
    out.state = stuck ? State::kStuck : e.training() || e.stepped() ? State::kSlow : State::kNotStarted;
    what = findings[0].summary + (speed.empty() || stuck ? "" : "; " + speed);
  } else if (stands_still(e)) {
    out.state = State::kStuck;
    what = fmt::format("nothing moves{}", where_now(e).empty() ? "" : ", at " + where_now(e));
  } else if (!e.training() || !(e.stepped() || e.seen.progress.steps > 0)) {
    // A loop of the user's own may train without any of the frameworks' words.
    const bool moves = e.training() && e.seen.main_still_s < kMoves && e.training_s() > 3;
    out.state = moves || workers_work(e) ? State::kHealthy : State::kNotStarted;
    if (workers_work(e)) what = fmt::format("{} workers are at work", e.workers());
    if (!findings.empty()) what = findings[0].summary;
  } else {
    out.state = State::kHealthy;
    if (!findings.empty()) what += "; " + findings[0].summary;
  }
  std::string word(text_of(out.state));
  if (out.state == State::kStuck)
    word += fmt::format(" ({})", duration_text(std::max(e.seen.quiet_s, e.seen.main_still_s)));
  out.sentence = word + ": " + what;
  return out;
}

}  // namespace headway
