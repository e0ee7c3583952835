#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "headway/doctor/rules/observed.h"
#include "headway/doctor/rules/outside.h"

namespace headway {
namespace {

constexpr int64_t kEnough = 60;
constexpr double kMuch = 0.22, kMuchSaving = 0.3, kMost = 0.5;  // saving is intended
constexpr double kAllTheTime = 0.8;
constexpr double kLongS = 9;
constexpr double kMuchTooLongS = 20;
constexpr double kWorks = 0.3;      // cores
constexpr double kInPython = 0.03;  // of the time: with less, no new graph is built
constexpr double kTracing = 0.15;   // of the training thread's time, once steps are made
constexpr double kSettledS = 10;
constexpr double kLastS = 4.5;  // JAX may compile its second step, too: by then that is over
constexpr int64_t kWarmUpSteps = 10, kFewSteps = 4;
constexpr int64_t kEndless = 400;  // steps of a first epoch without a known end
constexpr double kEndlessS = 12;

using E = OutsideEvidence;

bool does(const SeenStack& s, Activity activity) { return on_main(s) && s.activity == activity; }

// What a compiler inside the step made recently: its work shows in no stack.
struct Compiled {
  int64_t pieces = 0, steps = 0;
  double seconds = 0;
  double share() const { return seconds > 0 ? kPieceS * double(pieces) / seconds : 0; }
  static constexpr double kPieceS = 0.01;  // of compiling, at least; measured: 27 to 50 ms
};

// Nothing unless each of the last looks found more while steps were made: warming up ends some
// time, and what is compiled before the first step does not count.
Compiled compiled_of_late(const Outside& seen) {
  constexpr size_t kLooks = 3;
  const std::vector<SeenCompiled>& all = seen.compiled;
  if (all.size() < kLooks || all[all.size() - kLooks].steps == 0) return {};
  for (size_t i = all.size() - kLooks + 1; i < all.size(); ++i)
    if (all[i].pieces <= all[i - 1].pieces) return {};
  const SeenCompiled &from = all[all.size() - kLooks], &to = all.back();
  if (to.steps <= from.steps) return {};
  return {to.pieces - from.pieces, to.steps - from.steps, to.at_s - from.at_s};
}

}  // namespace

// The first step always builds a graph; the ledger begins after it.
std::optional<Finding> compiles_again(const Observations& o) {
  if (!o.looks) return std::nullopt;
  const E& e = *o.looks;
  const Share compiles = o.ledger.alone({Account::kCompiles});
  const Compiled inside = compiled_of_late(e.seen);
  const bool compiles_inside = inside.share() >= kTracing;
  const bool said = e.seen.output.retracings > 0;
  const bool keeps_on = o.ledger.is_enough() && o.ledger.seconds() >= kSettledS &&
                        e.seen.progress.steps >= kFewSteps && compiles.low >= kTracing &&
                        o.late.alone({Account::kCompiles}).share >= kTracing &&
                        Ledger(o.trace, kLastS).alone({Account::kCompiles}).share >= kTracing / 2;
  if (!said && !keeps_on && !compiles_inside) return std::nullopt;
  Finding f{
      .cause = Cause::kRetracing,
      .severity = keeps_on || compiles_inside ? Severity::kHigh : Severity::kWarning,
      .confidence = said || compiles_inside ? 0.95 : 0.8,
      .summary = "a graph is built again and again instead of once",
      .evidence = {"the training thread builds graphs " + share_text(compiles)},
      .fix =
          "give every batch the same shape (pad to a few sizes, drop_remainder=True) and "
          "tensors instead of Python numbers; make the compiled function once, outside the "
          "loop (tf.function: input_signature, reduce_retracing=True)",
      .predicted_gain = gain_without(std::max(compiles.low, compiles_inside ? inside.share() : 0))};
  if (compiles_inside)
    f.evidence.push_back(fmt::format("{} new pieces of compiled code in the last {}, over {} steps",
                                     inside.pieces, duration_text(inside.seconds), inside.steps));
  if (said) f.evidence.push_back("TensorFlow warns of it itself");
  const auto traces = [](const SeenStack& s) { return does(s, Activity::kTrace); };
  const HotLine hot = e.hottest(traces);
  if (hot.frame) f.where = place_text(*hot.frame);
  // TensorFlow keeps one graph for all shapes, but XLA compiles it again for each shape.
  const bool tensorflow =
      e.seen.framework == Framework::kTensorFlow || e.seen.framework == Framework::kKeras;
  if (tensorflow && !said && e.late_share(traces) < kInPython) {
    f.cause = Cause::kAutotuneVaryingShapes;
    f.summary = "a graph is compiled anew for each new shape";
    f.fix =
        "pad batches to a few fixed lengths (bucket_by_sequence_length with "
        "pad_to_bucket_boundary), or compile without XLA: jit_compile=False";
    const HotLine step = e.hottest([](const SeenStack& s) { return does(s, Activity::kStep); });
    if (step.frame) f.where = place_text(*step.frame);
  }
  return f;
}

// A graph is built in Python, then compiled inside the first step. Reported while that lasts, and
// as long as it was most of the watch.
std::optional<Finding> first_step_compiling(const E& e) {
  const auto traces = [](const SeenStack& s) { return does(s, Activity::kTrace); };
  const auto traces_or_steps = [&](const SeenStack& s) {
    return traces(s) || does(s, Activity::kStep);
  };
  const SeenProgress& p = e.seen.progress;
  const double on_graph = double(e.count(traces)) / double(std::max<int64_t>(1, e.count(on_main)));
  const bool from_start = e.seen.launched && e.count(traces) >= kEnough;
  const bool tracing = p.steps < kWarmUpSteps && e.late_share(traces) >= kAllTheTime;
  const bool compiling = from_start && !e.stepped() &&
                         e.late_share(traces_or_steps) >= kAllTheTime && e.seen.cores >= kWorks;
  const bool over = from_start && e.stepped() && !tracing && e.training();
  if (!e.running() || !(tracing || compiling || over)) return std::nullopt;
  const double seconds = over ? p.first_step_s - e.seen.training_since_s
                              : std::max(e.training_s(), on_graph * e.seen.at_s);
  if (seconds < kLongS || (over && e.seen.at_s - p.first_step_s > seconds)) return std::nullopt;
  Finding f{
      .cause = Cause::kFirstStepCompiling,
      .severity = !over && seconds >= kMuchTooLongS ? Severity::kWarning : Severity::kInfo,
      .confidence = 0.85,
      .summary = over ? fmt::format("the first step came after {} of tracing and compiling",
                                    duration_text(seconds))
                      : fmt::format("not stuck: the model is being traced and compiled, for {}",
                                    duration_text(seconds)),
      .evidence = {over && p.step_s > 0
                       ? fmt::format("later steps take {}", duration_text(p.step_s))
                       : fmt::format("{:.2f} cores work", e.seen.cores)},
      .fix =
          "shorter graphs compile faster: no Python loops over layers, steps or elements inside "
          "the compiled function (tf.while_loop, jax.lax.scan)"};
  const HotLine hot = e.hottest(traces_or_steps, !over);
  if (hot.frame) f.where = place_text(*hot.frame);
  return f;
}

std::optional<Finding> slow_callback(const E& e) {
  if (e.training_samples() < kEnough) return std::nullopt;
  const auto calls = [](const SeenStack& s) {
    return does(s, Activity::kCallback) || does(s, Activity::kCheckpoint);
  };
  const double share = e.training_share(calls);
  const double late = e.late_share(calls);
  const bool held = e.running() && late >= kAllTheTime && e.seen.main_still_s >= kLongS;
  const double saving =
      e.training_share([](const SeenStack& s) { return does(s, Activity::kCheckpoint); });
  if (share < (2 * saving > share ? kMuchSaving : kMuch) && !held) return std::nullopt;
  const HotLine hot = e.hottest(calls);
  Finding f{.cause = Cause::kSlowCallback,
            .severity = held             ? Severity::kCritical
                        : share >= kMost ? Severity::kHigh
                                         : Severity::kWarning,
            .confidence = 0.9,
            .summary = fmt::format("{} take {:.0f}% of the time",
                                   2 * saving > share ? "checkpoints" : "callbacks",
                                   100 * std::max(share, held ? late : 0)),
            .evidence = {fmt::format("{:.0f}% of the training thread's time", 100 * share)},
            .fix = 2 * saving > share ? "save checkpoints less often (save_freq), save only the "
                                        "weights, or use a faster disk"
                                      : "call the callback less often (every k steps, at the end "
                                        "of an epoch), or move its work to another thread"};
  if (hot.frame) f.where = place_text(*hot.frame);
  if (!hot.library.empty()) f.evidence.push_back("it calls " + hot.library);
  return f;
}

namespace {

std::string fit_line_of(const E& e) {
  const HotLine hot = e.hottest([](const SeenStack& s) { return on_main(s) && s.training; });
  return hot.frame ? place_text(*hot.frame) : "";
}

}  // namespace

// A generator without end, and the number of steps in an epoch was not given.
std::optional<Finding> epoch_never_ends(const E& e) {
  const SeenProgress& p = e.seen.progress;
  if (!e.running() || p.source != ProgressSource::kOutput || p.steps_per_epoch > 0 || p.epoch > 1)
    return std::nullopt;
  const bool endless = !e.seen.endless_generators.empty();
  // A loop that counts only steps is not meant to end an epoch.
  const bool has_epochs =
      e.seen.fits || (e.seen.framework == Framework::kTensorFlow && p.epoch == 1);
  if (p.step < (endless ? kEndless / 4 : kEndless) || e.training_s() < kEndlessS || !has_epochs)
    return std::nullopt;
  return Finding{
      .cause = Cause::kEpochNeverEnds,
      .severity = endless ? Severity::kHigh : Severity::kInfo,
      .confidence = endless ? 0.9 : 0.5,
      .summary =
          fmt::format("epoch 1 has had {} steps so far and may never end: its length is not known",
                      with_commas(p.step)),
      .evidence = {endless ? fmt::format("{}() yields in a `while True`, and nobody says how "
                                         "many steps an epoch has",
                                         e.seen.endless_generators[0])
                           : "the length of the data is not known"},
      .where = fit_line_of(e),
      .fix =
          "say how many steps an epoch has (Keras: steps_per_epoch=samples // batch_size, "
          "Lightning: limit_train_batches), or let the generator end"};
}

std::optional<Finding> output_buffered(const E& e) {
  const bool silent = e.seen.output.watched && e.seen.at_s - e.seen.output.last_s >= kLongS;
  if (!e.running() || !silent || !e.training() || e.training_s() < kLongS) return std::nullopt;
  if (e.seen.progress.source != ProgressSource::kVariables || e.seen.progress.steps < 3 ||
      e.seen.main_still_s > 3)
    return std::nullopt;
  return Finding{
      .cause = Cause::kOutputBuffered,
      .severity = Severity::kInfo,
      .confidence = 0.8,
      .summary = "not stuck: steps are being made, but the output is buffered and not shown yet",
      .evidence = {fmt::format("{} steps counted in its variables; nothing written for {}",
                               e.seen.progress.steps,
                               duration_text(e.seen.at_s - e.seen.output.last_s))},
      .fix = "start Python with -u, or use print(..., flush=True)"};
}

std::optional<Finding> wrong_steps_per_epoch(const E& e) {
  for (const SeenRemark& said : e.seen.output.remarks) {
    if (said.kind != Remark::kOutOfData) continue;
    return Finding{
        .cause = Cause::kWrongStepsPerEpoch,
        .severity = Severity::kWarning,
        .confidence = 0.95,
        .summary = "an epoch has more steps than the dataset has batches",
        .evidence = {said.text},
        .where = fit_line_of(e),
        .fix =
            "set steps_per_epoch = samples // batch_size or leave it out, or use dataset.repeat()"};
  }
  return std::nullopt;
}

// So few samples per step that most of it is a fixed cost of every step.
std::optional<Finding> batch_too_small(const E& e) {
  constexpr int64_t kSmall = 4, kManySteps = 100;
  constexpr double kQuick = 10e-3;   // of CPU
  constexpr double kByPython = 0.2;  // of a step: large ones spend nearly all of it in the library
  const SeenProgress& p = e.seen.progress;
  const bool written = e.seen.batch_size == 0;
  const int64_t batch = written ? e.seen.written_batch_size : e.seen.batch_size;
  if (batch < 1 || batch > kSmall || p.steps < kManySteps || p.step_s <= 0) return std::nullopt;
  const double by_python =
      e.share_with_lock([](const SeenStack& s) { return does(s, Activity::kStep) && s.training; });
  if (p.step_s * e.seen.cores > kQuick && by_python < kByPython) return std::nullopt;
  return Finding{
      .cause = Cause::kBatchTooSmall,
      .severity = Severity::kWarning,
      .confidence = 0.85,
      .summary = fmt::format("with {} sample{} per step, most of each step is fixed overhead",
                             batch, batch == 1 ? "" : "s"),
      .evidence = {fmt::format("{} per step, {:.0f}% of it in Python itself",
                               duration_text(p.step_s), 100 * by_python)},
      .where = e.seen.batch_size_at.line > 0 ? place_text(e.seen.batch_size_at) : fit_line_of(e),
      .fix = "use batch_size=32 or more, and raise the learning rate to match"};
}

namespace {

// Time and CPU time per step in a part of the watch.
struct Pace {
  double step_s = 0, cpu_s = 0;
};

// The value at `at`, interpolated between `low` at `from` and `high` at `to`.
double between(double at, double from, double to, double low, double high) {
  return to > from ? low + (high - low) * (at - from) / (to - from) : high;
}

// Readings in which steps were counted. The first count does not tell how long the run had lasted
// before, unless its beginning was seen.
std::vector<const TraceReading*> moves(const E& e) {
  std::vector<const TraceReading*> moved;
  for (const TraceReading& sample : e.trace.samples)
    if (moved.empty() ? sample.steps > 0 : sample.steps > moved.back()->steps)
      moved.push_back(&sample);
  const bool begins = e.seen.launched && !moved.empty() && moved[0] != e.trace.samples.data();
  if (!moved.empty() && !begins) moved.erase(moved.begin());
  return moved;
}

// For a run whose steps are counted rarely: from each count to the next.
std::vector<Pace> few_paces(const std::vector<const TraceReading*>& moved) {
  std::vector<Pace> out;
  for (size_t i = 1; i < moved.size(); ++i) {
    const TraceReading &from = *moved[i - 1], &to = *moved[i];
    const double steps = double(to.steps - from.steps);
    out.push_back({(to.at_s - from.at_s) / steps, (to.system.cpu_s - from.system.cpu_s) / steps});
  }
  return out;
}

// Parts of equal length, from the first step that was seen to the last. None if one of them has no
// step.
std::vector<Pace> paces(const E& e, size_t count) {
  const std::vector<const TraceReading*> moved = moves(e);
  std::vector<Pace> out;
  if (moved.size() < count + 1) return few_paces(moved);
  const double begin = moved.front()->at_s, length = (moved.back()->at_s - begin) / double(count);
  size_t k = 1;
  double steps = double(moved[0]->steps), cpu = moved[0]->system.cpu_s;
  for (size_t i = 1; i <= count; ++i) {
    const double end = begin + double(i) * length;
    while (k + 1 < moved.size() && moved[k]->at_s < end) ++k;
    const TraceReading &from = *moved[k - 1], &to = *moved[k];
    const double steps_now = between(end, from.at_s, to.at_s, double(from.steps), double(to.steps));
    const double cpu_now = between(end, from.at_s, to.at_s, from.system.cpu_s, to.system.cpu_s);
    if (steps_now <= steps) return {};
    out.push_back({length / (steps_now - steps), (cpu_now - cpu) / (steps_now - steps)});
    steps = steps_now, cpu = cpu_now;
  }
  return out;
}

double mean_of(const std::vector<Pace>& pace, size_t from, double Pace::*what) {
  return (pace[from].*what + pace[from + 1].*what) / 2;
}

// Nearly every part is slower than nearly every earlier one, up to the end, and a step uses more
// and more CPU time or is far slower: a neighbour may slow a run down, but adds no work.
bool slows_on(const std::vector<Pace>& pace) {
  constexpr double kFarSlower = 2.5, kSlower = 1.5, kMoreWork = 1.4, kStillGrowing = 1.1;
  constexpr double kInOrder = 0.85, kAtOnce = 0.75;
  const size_t n = pace.size();
  if (n < 4) return false;
  // A jump within two parts (with few parts: one) is a different state of the program or of the
  // machine.
  const size_t within = n < 6 ? 1 : 2;
  double jump = 0;
  for (size_t i = within; i < n; ++i)
    jump = std::max(jump, pace[i].step_s - pace[i - within].step_s);
  if (jump > kAtOnce * (pace.back().step_s - pace.front().step_s)) return false;
  size_t in_order = 0;
  for (size_t i = 0; i < n; ++i)
    for (size_t k = i + 1; k < n; ++k) in_order += pace[k].step_s > pace[i].step_s;
  const double last = mean_of(pace, n - 2, &Pace::step_s);
  const double grown = last / mean_of(pace, 0, &Pace::step_s);
  const double first_work = mean_of(pace, 0, &Pace::cpu_s);
  const bool more_work = mean_of(pace, n - 2, &Pace::cpu_s) >= kMoreWork * first_work;
  return double(in_order) >= kInOrder * double(n * (n - 1) / 2) &&
         (grown >= kFarSlower || (grown >= kSlower && more_work)) &&
         last >= kStillGrowing * mean_of(pace, n / 2 - 1, &Pace::step_s);
}

}  // namespace

std::optional<Finding> step_time_grows(const E& e) {
  constexpr size_t kStretches = 6;
  const std::vector<Pace> pace = paces(e, kStretches);
  if (!slows_on(pace) || e.training_s() < kEndlessS) return std::nullopt;
  const HotLine hot = e.hottest([](const SeenStack& s) { return on_main(s) && s.training; });
  Finding f{
      .cause = Cause::kStepTimeGrows,
      .severity = Severity::kHigh,
      .confidence = 0.8,
      .summary = fmt::format("steps become slower and slower: {} at first, {} now",
                             duration_text(pace.front().step_s), duration_text(pace.back().step_s)),
      .evidence = {"each stretch of the watch was slower than the one before"},
      .fix =
          "look for what is added in every step: losses kept with their graphs (use .item() or "
          ".detach()), lists that are searched, operators made inside the loop"};
  if (hot.frame) f.where = place_text(*hot.frame);
  return f;
}

}  // namespace headway
