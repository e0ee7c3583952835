#include <fmt/format.h>

#include <algorithm>

#include "headway/doctor/diagnose.h"
#include "headway/doctor/evidence.h"
#include "headway/doctor/outside_verdict.h"

namespace headway {
namespace {

constexpr double kBound = 0.9;  // the rest of a step, when something is said to bind it

// Until epoch `epochs` ends, validation and checkpoints at the pace so far.
std::optional<double> seconds_until(const Evidence& e, int64_t epochs) {
  if (!e.steady() || e.run.steps_per_epoch <= 0 || !e.running()) return std::nullopt;
  const double left =
      double(epochs - e.last.epoch) * double(e.run.steps_per_epoch) - double(e.last.step_in_epoch);
  return left < 0 ? std::nullopt : std::optional(left * e.seconds / double(e.steps));
}

std::string pace(const Evidence& e) {
  if (!e.steady()) return "too few steps to judge its speed";
  const double own = 1 - e.waiting_share();
  std::string text = own >= kBound ? "compute-bound, " : "";
  text += fmt::format("{} per step", duration_text(e.step_s()));
  if (const auto busy = e.gpu_busy()) text += fmt::format(", GPU busy {:.0f}%", 100 * *busy);
  if (const auto left = seconds_until(e, e.last.epoch + 1)) {
    text += fmt::format("; epoch {} ends in {}", e.last.epoch + 1, duration_text(*left));
  }
  const double feed = e.feed().shared_s();
  if (!e.running() && own >= kBound && feed > 0 && e.own_s() > 1.5 * feed) {
    text += fmt::format("; the feed could go {:.1f}x faster", e.own_s() / feed);
  }
  return text;
}

// Before the first step there is no speed: say what it does, and for how long.
std::string beginning(const Evidence& e) {
  if (e.last.phase == RunPhase::kNone) return "no step yet";
  return fmt::format("no step yet, in \"{}\" for {}", text_of(e.last.phase), duration_text(e.last.phase_s));
}

// Something is wrong, but not its speed.
bool is_no_delay(Cause cause) {
  constexpr Cause kCauses[] = {Cause::kLearningRate,       Cause::kNanLoss,
                                          Cause::kLossFrozen,         Cause::kWeightsNotUpdated,
                                          Cause::kExplodingGradients, Cause::kVanishingGradients,
                                          Cause::kDeadRelu,           Cause::kBadInitialWeights,
                                          Cause::kInputNotScaled,    Cause::kGradientNotConnected,
                                          Cause::kLossOscillates,     Cause::kLimitsOrDiskFull,
                                          Cause::kHostMemoryLeak,    Cause::kMemoryLimit};
  return std::find(std::begin(kCauses), std::end(kCauses), cause) != std::end(kCauses);
}

State state_of(const Evidence& e, const std::vector<Finding>& findings) {
  if (e.trace.failed()) return State::kCrashed;
  const bool critical = grave(findings) && findings[0].severity == Severity::kCritical;
  if (e.running() && e.stuck() && critical) return State::kStuck;
  if (grave(findings)) return State::kSlow;
  if (!e.started()) return State::kNotStarted;
  return State::kHealthy;
}

}  // namespace

Verdict verdict(const Trace& trace, const std::vector<Finding>& findings) {
  if (trace.outside.seen) return outside_verdict(trace, findings);
  const Evidence e(trace);
  Verdict out{.state = state_of(e, findings)};
  out.eta_s = e.run.epochs > 0 ? seconds_until(e, e.run.epochs) : std::nullopt;
  std::string what = e.started() ? pace(e) : beginning(e);
  if (out.state == State::kCrashed) {
    what = trace.ending;
  } else if (out.state == State::kStuck) {
    what = findings[0].summary;
  } else if (grave(findings)) {
    what = findings[0].summary + "; " + what;
  } else if (!findings.empty()) {
    what += "; " + findings[0].summary;
  } else if (e.running() && e.stuck()) {
    out.state = State::kStuck;
    what = fmt::format("nothing new in \"{}\", and no rule knows why", text_of(e.last.phase));
  }
  // Numbers that went wrong are trouble, but not slowness.
  std::string word(text_of(out.state));
  if (out.state == State::kSlow && is_no_delay(findings[0].cause)) word = "trouble";
  if (out.state == State::kStuck) word += fmt::format(" ({})", duration_text(e.quiet_s()));
  out.sentence = word + ": " + what;
  return out;
}

}  // namespace headway
