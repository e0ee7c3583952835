#include <fmt/format.h>

#include <algorithm>

#include "headway/doctor/rules/outside.h"

namespace headway {
namespace {

constexpr int64_t kEnough = 60;
constexpr double kMuch = 0.3, kMost = 0.5;
constexpr double kAllTheTime = 0.8;
constexpr double kLongS = 9;
constexpr double kTracing = 0.15;  // of the training thread's time, once steps are being made
constexpr int64_t kWarmUpSteps = 10;
constexpr int64_t kEndless = 400;  // steps of a first epoch without a known end
constexpr double kEndlessS = 12;

using E = OutsideEvidence;

bool does(const SeenStack& s, const char* activity) { return on_main(s) && s.activity == activity; }

std::optional<Finding> nan_loss(const E& e) {
  const SeenProgress& p = e.seen.progress;
  if (p.bad_losses < 2) return std::nullopt;
  return Finding{
      .cause = "nan-loss",
      .severity = Severity::kCritical,
      .confidence = 0.95,
      .summary = "the loss is not a number any more",
      .evidence = {fmt::format("{} lines of the output say so; {} had a finite one", p.bad_losses,
                               p.losses)},
      .where = fmt::format("epoch {}, step {}", p.epoch, p.step),
      .fix =
          "a smaller learning rate, clipped gradients, inputs that are finite and scaled; "
          "TerminateOnNaN stops the waste"};
}

std::optional<Finding> retracing(const E& e) {
  const double tracing = e.training_share([](const SeenStack& s) { return does(s, "trace"); });
  const bool said = e.seen.output.retracings > 0;
  const bool keeps_on =
      e.seen.progress.steps >= kWarmUpSteps && e.training_samples() >= kEnough &&
      e.late_share([](const SeenStack& s) { return does(s, "trace"); }) >= kTracing;
  if (!said && !keeps_on) return std::nullopt;
  Finding f{.cause = "retracing",
            .severity = said && tracing < kTracing ? Severity::kWarning : Severity::kHigh,
            .confidence = said ? 0.95 : 0.8,
            .summary = "a graph is built again and again instead of once",
            .evidence = {fmt::format("{:.0f}% of the training thread's time builds graphs",
                                     100 * tracing)},
            .fix =
                "give tf.function tensors, not Python numbers, of one shape (input_signature, "
                "reduce_retracing=True, drop_remainder=True), and make it once, outside the loop"};
  if (said) f.evidence.push_back("TensorFlow warns of it itself");
  const HotLine hot = e.hottest([](const SeenStack& s) { return does(s, "trace"); });
  if (hot.frame) f.where = place_text(*hot.frame);
  return f;
}

std::optional<Finding> first_step_compiling(const E& e) {
  const double late = e.late_share([](const SeenStack& s) { return does(s, "trace"); });
  if (!e.running() || e.seen.progress.steps >= kWarmUpSteps || late < kAllTheTime)
    return std::nullopt;
  if (e.training_s() < kLongS) return std::nullopt;
  Finding f{.cause = "first-step-compiling",
            .severity = Severity::kInfo,
            .confidence = 0.85,
            .summary = fmt::format("not stuck: the model is being traced and compiled, since {}",
                                   duration_text(e.training_s())),
            .evidence = {fmt::format("{:.2f} cores work", e.seen.cores)},
            .fix =
                "nothing to repair; shorter graphs (no Python loops over layers or steps) compile "
                "faster"};
  const HotLine hot = e.hottest([](const SeenStack& s) { return does(s, "trace"); }, true);
  if (hot.frame) f.where = place_text(*hot.frame);
  return f;
}

std::optional<Finding> hidden_validation(const E& e) {
  const auto validates = [](const SeenStack& s) { return does(s, "validate"); };
  const double share = e.training_share(validates), late = e.late_share(validates);
  const HotLine hot = e.hottest(validates);
  Finding f{.cause = "hidden-validation", .confidence = 0.9};
  f.fix = "validation_steps, validation_freq, or a smaller validation set";
  if (hot.frame) f.where = place_text(*hot.frame);
  if (share >= kMost && e.training_samples() >= 3 * kEnough) {
    f.severity = Severity::kWarning;
    f.summary = fmt::format("validation takes {:.0f}% of the time", 100 * share);
  } else if (e.running() && late >= kAllTheTime) {
    f.severity = Severity::kInfo;
    f.summary = "not stuck: it validates";
  } else {
    return std::nullopt;
  }
  f.evidence = {
      fmt::format("{:.0f}% of the training thread's time of late, {:.0f}% since training began",
                  100 * late, 100 * share)};
  return f;
}

std::optional<Finding> slow_callback(const E& e) {
  if (e.training_samples() < kEnough) return std::nullopt;
  const auto calls = [](const SeenStack& s) {
    return does(s, "callback") || does(s, "checkpoint");
  };
  const double share = e.training_share(calls);
  const double late = e.late_share(calls);
  const bool held = e.running() && late >= kAllTheTime && e.seen.main_still_s >= kLongS;
  if (share < kMuch && !held) return std::nullopt;
  const double saving = e.training_share([](const SeenStack& s) { return does(s, "checkpoint"); });
  const HotLine hot = e.hottest(calls);
  Finding f{
      .cause = "slow-callback",
      .severity = held             ? Severity::kCritical
                  : share >= kMost ? Severity::kHigh
                                   : Severity::kWarning,
      .confidence = 0.9,
      .summary = fmt::format("{} take {:.0f}% of the time",
                             2 * saving > share ? "checkpoints" : "callbacks",
                             100 * std::max(share, held ? late : 0)),
      .evidence = {fmt::format("{:.0f}% of the training thread's time", 100 * share)},
      .fix =
          2 * saving > share
              ? "save less often (save_freq), the weights only, or to a faster disk"
              : "call it less often (every k steps, at the end of an epoch), or move its work to a "
                "thread of its own"};
  if (hot.frame) f.where = place_text(*hot.frame);
  if (!hot.library.empty()) f.evidence.push_back("it calls " + hot.library);
  return f;
}

// A generator without end, and nobody said how many steps make an epoch.
std::optional<Finding> epoch_never_ends(const E& e) {
  const SeenProgress& p = e.seen.progress;
  if (!e.running() || p.source != "output" || p.steps_per_epoch > 0 || p.epoch > 1)
    return std::nullopt;
  if (p.step < kEndless || e.training_s() < kEndlessS || e.seen.framework != "tensorflow")
    return std::nullopt;
  bool endless = false;
  const HotLine hot = e.hottest(producing);
  for (const SeenStack& s : e.seen.stacks) {
    if (!producing(s)) continue;
    for (const SeenFrame& frame : s.frames)
      endless |= std::find(e.seen.endless.begin(), e.seen.endless.end(), frame.function) !=
                 e.seen.endless.end();
  }
  Finding f{
      .cause = "epoch-never-ends",
      .severity = endless ? Severity::kHigh : Severity::kInfo,
      .confidence = endless ? 0.9 : 0.5,
      .summary = fmt::format("epoch 1 has {} steps and no end is known", with_commas(p.step)),
      .evidence = {endless ? "the generator is a `while True`, and steps_per_epoch was not given"
                           : "the length of the data is not known"},
      .fix = "fit(..., steps_per_epoch=samples // batch_size), or let the generator end"};
  if (hot.frame) f.where = place_text(*hot.frame);
  return f;
}

std::optional<Finding> output_buffered(const E& e) {
  const bool silent = e.seen.output.watched && e.seen.at_s - e.seen.output.last_s >= kLongS;
  if (!e.running() || !silent || !e.training() || e.training_s() < kLongS) return std::nullopt;
  if (e.seen.progress.source != "variables" || e.seen.progress.steps < 3 || e.seen.main_still_s > 3)
    return std::nullopt;
  return Finding{.cause = "output-buffered",
                 .severity = Severity::kInfo,
                 .confidence = 0.8,
                 .summary = "not stuck: steps are made, the output is only kept back",
                 .evidence = {fmt::format(
                     "{} steps counted in its variables; nothing written for {}",
                     e.seen.progress.steps, duration_text(e.seen.at_s - e.seen.output.last_s))},
                 .fix = "python -u, or print(..., flush=True)"};
}

std::optional<Finding> waits_for_others(const E& e) {
  const double meeting = e.late_share([](const SeenStack& s) { return does(s, "rendezvous"); });
  const double together = e.late_share([](const SeenStack& s) { return does(s, "collective"); });
  if (!e.running() || std::max(meeting, together) < kAllTheTime || e.seen.main_still_s < kLongS)
    return std::nullopt;
  const bool meets = meeting >= together;
  const HotLine hot = e.hottest(on_main, true);
  Finding f{
      .cause = meets ? "rendezvous-waits" : "mismatched-collective",
      .severity = Severity::kCritical,
      .confidence = meets ? 0.9 : 0.6,
      .summary = meets ? "waits for other ranks that have not come"
                       : "waits in a collective that other ranks have not entered",
      .evidence = {fmt::format("the same stack for {}", duration_text(e.seen.main_still_s))},
      .fix = meets
                 ? "start all WORLD_SIZE ranks with the same MASTER_ADDR and MASTER_PORT; look at "
                   "firewalls between them"
                 : "every rank must make the same calls in the same order: look at the others' "
                   "stacks"};
  if (hot.frame) f.where = place_text(*hot.frame);
  return f;
}

constexpr OutsideRule kRules[] = {nan_loss,         retracing,      first_step_compiling,
                                  waits_for_others, slow_callback,  hidden_validation,
                                  epoch_never_ends, output_buffered};

}  // namespace

std::span<const OutsideRule> outside_loop_rules() { return kRules; }

}  // namespace headway
