#include "headway/doctor/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "headway/doctor/rules/rules.h"

namespace headway {
namespace {

constexpr double kBound = 0.9;  // of a step without waiting, from which it is called compute-bound
constexpr size_t kFewLosses = 3;
constexpr double kMoves = 3;   // seconds: a stack that changed within this time
constexpr double kBarely = 1;  // seconds: a shorter rest is not worth a forecast

// Time until epoch `epochs` ends, with validation and checkpoints at the pace so far.
std::optional<double> seconds_until(const Evidence& e, int64_t epochs) {
  if (!e.steady() || e.run.steps_per_epoch <= 0 || !e.running()) return std::nullopt;
  const double left =
      double(epochs - e.last.epoch) * double(e.run.steps_per_epoch) - double(e.last.step_in_epoch);
  return left < 0 ? std::nullopt : std::optional(left * e.seconds / double(e.steps));
}

std::optional<double> seconds_left(const SeenProgress& p) {
  if (p.step_s <= 0 || p.steps_per_epoch <= 0 || p.steps < 3) return std::nullopt;
  const double epochs = std::max({1.0, double(p.epochs), double(p.epoch)});
  const double now = std::max(1.0, double(p.epoch));
  const double left = (epochs - now + 1) * double(p.steps_per_epoch) - double(p.step);
  return left <= 0 ? std::nullopt : std::optional(left * p.step_s);
}

std::string gpu_text(const Observations& o) {
  const auto busy = o.gpu_busy();
  return busy ? fmt::format(", GPU busy {:.0f}%", 100 * *busy) : "";
}

// "computes 91%, waits for data 6%": the other accounts that are large enough to name.
std::string accounts_text(const Observations& o) {
  constexpr double kWorthNaming = 0.05;
  std::string out;
  std::set<Account> named;  // an account has one line per state of the GPU
  for (const LedgerLine& line : o.ledger.lines()) {
    const double share = o.ledger.of(line.account).share;
    if (share < kWorthNaming || !named.insert(line.account).second) continue;
    out += fmt::format("{}{} {:.0f}%", out.empty() ? "" : ", ", text_of(line.account), 100 * share);
  }
  return out;
}

std::string inside_pace(const Observations& o, const Evidence& e) {
  if (!e.steady()) return "too few steps to judge its speed";
  const double own = 1 - e.waiting_share();
  std::string text = own >= kBound ? "compute-bound, " : "";
  text += fmt::format("{} per step", duration_text(e.step_s())) + gpu_text(o);
  if (const auto left = seconds_until(e, e.last.epoch + 1)) {
    text += fmt::format("; epoch {} ends in {}", e.last.epoch + 1, duration_text(*left));
  }
  const double feed = e.feed().shared_s();
  if (!e.running() && own >= kBound && feed > 0 && e.own_s() > 1.5 * feed) {
    text += fmt::format("; the feed could go {:.1f}x faster", e.own_s() / feed);
  }
  return text;
}

std::string outside_pace(const Observations& o, const SeenProgress& p) {
  std::string text;
  if (p.steps >= 3 && p.step_s > 0) text = fmt::format("{} per step", duration_text(p.step_s));
  if (p.epoch > 0 && p.epochs > 0)
    text += fmt::format("{}epoch {} of {}", text.empty() ? "" : ", ", p.epoch, p.epochs);
  const auto left = o.running() ? seconds_left(p) : std::nullopt;
  if (left && *left >= kBarely) text += fmt::format(", ends in about {}", duration_text(*left));
  text += gpu_text(o);
  return text;
}

std::string pace(const Observations& o) {
  return o.inside() ? inside_pace(o, *o.inside()) : outside_pace(o, o.seen()->progress);
}

std::string where_now(const Observations& o) {
  if (const SeenProcess* main = o.main()) {
    for (const SeenFrame& frame : main->stack)
      if (frame.users) return " at " + place_text(frame);
  }
  return "";
}

// Before the first step there is no speed: say what the run does, and for how long.
std::string beginning(const Observations& o) {
  if (const Evidence* e = o.inside()) {
    if (e->last.phase == RunPhase::kNone) return "no step yet";
    return fmt::format("no step yet, in \"{}\" for {}", text_of(e->last.phase),
                       duration_text(e->last.phase_s));
  }
  const OutsideEvidence& e = *o.looks;
  if (e.training())
    return fmt::format("in training for {}, no step seen yet{}", duration_text(e.training_s()),
                       where_now(o));
  const auto importing = [](const SeenStack& s) {
    return on_main(s) && s.activity == Activity::kImport;
  };
  if (e.late_share(importing) > 0.5) return "loading modules";
  if (!e.seen.blind.empty()) return fmt::format("no training call seen; {}", e.seen.blind);
  return "no training call seen yet" + where_now(o);
}

// Without a framework: a pool of processes does the work, and its results arrive.
bool workers_work(const Observations& o) {
  const auto works = [](const SeenStack& s) { return s.process == Role::kWorker && producing(s); };
  return o.looks && o.seen()->framework == Framework::kNone && o.looks->workers() > 0 &&
         o.seen()->quiet_s < kMoves && o.looks->late_share(works) > 0.5;
}

bool tells_losses(const Observations& o) { return o.losses.size() >= kFewLosses; }

// A run is only called healthy if training goes on and it is known where its time goes.
bool earns_healthy(const Observations& o) {
  if (o.inside()) return o.inside()->started();
  if (workers_work(o)) return true;
  const bool goes_on =
      o.stepped() || tells_losses(o) || (o.looks->training() && o.seen()->main_still_s < kMoves);
  return goes_on && o.ledger.is_enough();
}

Verdict crashed(const Observations& o) {
  Verdict out{.state = State::kCrashed};
  if (!o.looks) {
    out.sentence = "crashed: " + o.trace.ending;
    return out;
  }
  const SeenOutput& output = o.seen()->output;
  out.sentence = "crashed: " + o.seen()->exit;
  if (!output.exception.empty()) out.sentence += "; " + output.exception;
  if (output.raised_at.line > 0) out.sentence += " at " + place_text(output.raised_at);
  return out;
}

bool has_failed(const Observations& o) {
  return o.looks ? !o.running() && o.seen()->exit_status != 0 && !o.seen()->exit.empty()
                 : o.trace.failed();
}

// A process that is not our child does not tell us how it ended.
Verdict ended(const Observations& o, const std::vector<Finding>& findings) {
  Verdict out{.state = State::kEnded};
  out.sentence = fmt::format("ended: the process is gone after {} of watching, nobody can say how",
                             duration_text(o.seen()->at_s));
  const std::string before = has_problem(findings) ? findings[0].summary : pace(o);
  if (!before.empty()) out.sentence += "; before: " + before;
  return out;
}

// A critical finding already says why nothing comes: then half the time is enough for looks from
// outside (counters have a bound of their own), and for a cause that works without result, none.
bool stuck_for_a_cause(const Observations& o, const std::vector<Finding>& findings) {
  constexpr double kStillWithCauseS = kStillAfterS / 2;
  if (!has_problem(findings) || findings[0].severity != Severity::kCritical) return false;
  if (works_without_result(findings[0].cause, o.stepped())) return true;
  return o.looks ? o.seen()->quiet_s >= kStillWithCauseS : o.counters.stuck();
}

State state_of(const Observations& o, const std::vector<Finding>& findings) {
  if (o.looks && !o.running()) return State::kFinished;
  if (o.running() && stuck_for_a_cause(o, findings)) return State::kStuck;
  if (has_problem(findings)) {  // it explains why little moves: slow, not stuck
    const bool begun = o.inside() || o.looks->training() || o.stepped();
    return begun ? State::kSlow : State::kNotStarted;
  }
  if (o.inside() ? o.running() && o.counters.stuck() : o.stands_still()) {
    // A shell at its prompt polls for input.
    const bool asked_nothing = o.main() && o.main()->wait == Wait::kPoll && !o.looks->training();
    if (!asked_nothing) return State::kStuck;
  }
  return earns_healthy(o) ? State::kHealthy : State::kNotStarted;
}

std::string words_for(const Observations& o, State state, const std::vector<Finding>& findings) {
  const std::string speed = pace(o);
  std::string what = o.stepped() && !speed.empty() ? speed : beginning(o);
  if (!o.stepped() && tells_losses(o))
    what = fmt::format("{} losses told, {:.4g} now", o.losses.size(), o.losses.last());
  switch (state) {
    case State::kFinished:
      if (has_problem(findings)) return findings[0].summary;
      return speed.empty() ? "without trouble seen" : speed;
    case State::kStuck:
      if (has_problem(findings)) return findings[0].summary;
      if (o.inside())
        return fmt::format("nothing new in \"{}\", and no rule knows why",
                           text_of(o.counters.last.phase));
      return "nothing moves" + where_now(o);
    case State::kHealthy: {
      if (workers_work(o) && !o.stepped())
        return fmt::format("{} workers are at work", o.looks->workers());
      std::string text = what;
      if (o.looks && o.ledger.is_enough()) text += "; " + accounts_text(o);
      if (!findings.empty()) text += "; " + findings[0].summary;
      return text;
    }
    default:
      if (has_problem(findings)) return findings[0].summary + (what.empty() ? "" : "; " + what);
      return findings.empty() ? what : what + "; " + findings[0].summary;
  }
}

}  // namespace

Verdict verdict(const Trace& trace, const std::vector<Finding>& findings) {
  const Observations o(trace);
  const Outside* seen = o.seen();
  if (seen && !seen->unwatched.empty())
    return {.state = State::kNotWatched, .sentence = "not watched: " + seen->unwatched};
  if (seen && seen->gone && seen->exit.empty()) return ended(o, findings);
  if (has_failed(o)) return crashed(o);
  if (seen && !seen->launched && !seen->blind.empty() && !has_problem(findings))
    return {.state = State::kNotWatched, .sentence = "not watched: " + seen->blind};
  Verdict out{.state = state_of(o, findings)};
  if (seen) {
    out.eta_s = o.running() ? seconds_left(seen->progress) : std::nullopt;
  } else if (o.counters.run.epochs > 0) {
    out.eta_s = seconds_until(o.counters, o.counters.run.epochs);
  }
  // Wrong numbers are a problem, but not slowness.
  std::string word(text_of(out.state));
  const CauseRule* rule = has_problem(findings) ? rule_of(findings[0].cause) : nullptr;
  if (out.state == State::kSlow && rule && rule->effect != Effect::kSlow) word = "trouble";
  if (out.state == State::kStuck) {
    out.still_s = std::max(o.quiet_s(), seen ? seen->quiet_s : 0);
    word += fmt::format(" ({})", duration_text(out.still_s));
  }
  out.sentence = word + ": " + words_for(o, out.state, findings);
  return out;
}

}  // namespace headway
