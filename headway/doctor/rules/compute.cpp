#include <fmt/format.h>

#include <algorithm>

#include "headway/core/text.h"
#include "headway/doctor/rules/counters.h"

namespace headway {
namespace {

constexpr int64_t kSmallBatch = 16;  // larger ones are not called small
constexpr int64_t kBetterBatch = 32;
constexpr double kFixedShare = 0.25;   // of a step that does not depend on the batch
constexpr double kQuickStep = 1.5e-3;  // a shorter step is mostly the cost of starting operations
constexpr double kLongFirstStep = 30;
constexpr double kHardlyGrows = 1.15;             // a step with twice the batch, relative to one
constexpr double kGpuBusy = 0.5, kGpuFull = 0.9;  // of the time
constexpr double kElsewhere = 0.15;               // of the time, outside steps
constexpr double kEnoughLooksS = 8;               // the driver is queried every second or two
constexpr double kNoted = 0.05, kWorthSaying = 0.10, kMuch = 0.30;

}  // namespace

// Twice the batch was tried: how much of a step does not grow with it?
std::optional<Finding> measured_small_batch(const Evidence& e) {
  const ReplayReading& replay = e.trace.replay;
  if (replay.double_step_s <= 0 || replay.step_s <= 0) return std::nullopt;
  const double grown = replay.double_step_s / replay.step_s;
  if (grown > kHardlyGrows) return std::nullopt;
  return Finding{
      .cause = Cause::kBatchTooSmall,
      .severity = Severity::kWarning,
      .confidence = 0.95,
      .summary = fmt::format("a batch of {} is too small to keep the {} busy", replay.batch_size,
                             !e.run.on_gpu() ? "cores" : "GPU"),
      .evidence = {fmt::format("measured: {} per step with {} samples, {} with {}",
                               duration_text(replay.step_s), replay.batch_size,
                               duration_text(replay.double_step_s), 2 * replay.batch_size)},
      .where = fmt::format("batch({})", replay.batch_size),
      .fix = fmt::format("use batch({}) or more, and raise the learning rate to match",
                         2 * replay.batch_size),
      .predicted_gain = 2 / grown};
}

// The optimizer costs the same for one sample as for a thousand, and each layer some microseconds.
std::optional<Finding> batch_too_small(const Evidence& e) {
  const int64_t batch = e.run.batch_size;
  if (!e.steady() || batch <= 0 || batch > kSmallBatch) return std::nullopt;
  if (e.trace.replay.double_step_s > 0) return std::nullopt;  // it was measured already
  const double optimizer = e.spent_s(StepPhase::kOptimizer) / double(e.steps);
  const double share = e.own_s() > 0 ? optimizer / e.own_s() : 0;
  const bool quick = e.own_s() < kQuickStep;
  if (share < kFixedShare && !quick) return std::nullopt;
  const double per_sample = e.step_s() / double(batch);
  const double after = optimizer / double(kBetterBatch) + (e.step_s() - optimizer) / double(batch);
  return Finding{
      .cause = Cause::kBatchTooSmall,
      .severity = batch <= 4 ? Severity::kWarning : Severity::kInfo,
      .confidence = share >= kFixedShare ? 0.8 : 0.65,
      .summary = fmt::format("with {} sample{} per step, most of each step is fixed overhead",
                             batch, batch == 1 ? "" : "s"),
      .evidence = {fmt::format("the optimizer takes {:.0f}% of a step of {}", 100 * share,
                               duration_text(e.own_s())),
                   fmt::format("{} per sample", duration_text(per_sample))},
      .where = fmt::format("batch({})", batch),
      .fix = fmt::format("use batch({}) or more, and raise the learning rate to match; accumulate "
                         "does not help here",
                         kBetterBatch),
      .predicted_gain = per_sample / after};  // at least: other fixed costs shrink too
}

namespace {

// Gain in samples per second from twice the batch; nothing if a replay with it was refused. A feed
// that is almost too slow limits the gain.
std::optional<double> gain_of_twice(const Evidence& e) {
  const ReplayReading& replay = e.trace.replay;
  if (replay.step_s > 0 && replay.double_step_s == 0) return std::nullopt;
  const double grown = replay.step_s > 0 ? replay.double_step_s / replay.step_s : 1;
  return 2 * e.step_s() / std::max(grown * e.own_s(), 2 * e.feed().shared_s());
}

}  // namespace

// The GPU waits neither for data nor for anything else: it finishes before the next order arrives.
std::optional<Finding> launch_bound(const Evidence& e) {
  const auto busy = e.gpu_busy();
  if (!e.steady() || !e.run.on_gpu() || !busy || *busy >= kGpuBusy) return std::nullopt;
  if (e.seconds < kEnoughLooksS || measured_small_batch(e) || batch_too_small(e)) {
    return std::nullopt;
  }
  const double orders_s = e.spent_s(StepPhase::kForward) + e.spent_s(StepPhase::kBackward) +
                          e.spent_s(StepPhase::kOptimizer);
  const double elsewhere = 1 - (orders_s + e.spent_s(StepPhase::kMetrics)) / e.seconds;
  if (elsewhere >= kElsewhere || e.cores_full()) return std::nullopt;  // it is late without a core
  const auto gain = gain_of_twice(e);
  if (!gain || *gain < 1 + kWorthSaying) return std::nullopt;
  // In a user's own loop, everything the loss function does counts as forward.
  const bool known = e.run.products != ProductType::kUnknown;
  return Finding{
      .cause = Cause::kLaunchBound,
      .severity = known ? Severity::kWarning : Severity::kInfo,
      .confidence = known ? 0.75 : 0.5,
      .summary = fmt::format("the GPU is busy only {:.0f}% of the time: it waits for the CPU to "
                             "launch its work, not for data",
                             100 * *busy),
      .evidence = {fmt::format("{} of each {} go to forward, backward and optimizer on the CPU, "
                               "which give the GPU its work",
                               duration_text(orders_s / double(e.steps)),
                               duration_text(e.step_s())),
                   fmt::format("waiting for data: {:.1f}%", 100 * e.waiting_share())},
      .where = "forward, backward, optimizer",
      .fix = fmt::format("use batch({}) or more while memory lasts, and raise the learning rate to "
                         "match: twice the samples for the same number of launches",
                         2 * e.run.batch_size),
      .predicted_gain = gain};
}

std::optional<Finding> float32_on_a_gpu(const Evidence& e) {
  const auto busy = e.gpu_busy();
  if (!e.steady() || !e.run.on_gpu() || e.run.products != ProductType::kFloat32)
    return std::nullopt;
  if (!busy || *busy < kGpuFull || e.seconds < kEnoughLooksS) return std::nullopt;
  return Finding{
      .cause = Cause::kNoMixedPrecision,
      .severity = Severity::kInfo,  // nothing is wrong
      .confidence = 0.7,
      .summary = "the GPU computes all the time in float32; bfloat16 may be faster",
      .evidence = {fmt::format("{} is busy {:.0f}% of the time", e.run.gpu, 100 * *busy)},
      .where = "precision",
      .fix =
          "try --precision bfloat16 (.precision = Precision::kBFloat16 in ModelOptions) for a "
          "hundred steps, and compare time and loss"};
}

namespace {

// The callback that took most of the steady part, and for how long.
std::pair<std::string, double> most_expensive_callback(const Evidence& e) {
  std::pair<std::string, double> most_expensive;
  for (size_t i = 0; i < std::min(e.run.callbacks.size(), e.last.callback_s.size()); ++i) {
    const double before = i < e.first.callback_s.size() ? e.first.callback_s[i] : 0;
    const double spent = e.last.callback_s[i] - before;
    if (spent >= most_expensive.second) most_expensive = {e.run.callbacks[i], spent};
  }
  return most_expensive;
}

}  // namespace

std::optional<Finding> slow_callback(const Evidence& e) {
  if (!e.steady()) return std::nullopt;
  const double callbacks = e.share(StepPhase::kCallbacks);
  const double checkpoint = e.share(StepPhase::kCheckpoint);
  const bool is_callback = callbacks >= checkpoint;
  const double share = std::max(callbacks, checkpoint);
  if (share < kNoted) return std::nullopt;
  const auto [name, spent] = most_expensive_callback(e);
  return Finding{
      .cause = Cause::kSlowCallback,
      .severity = share >= kMuch          ? Severity::kHigh
                  : share >= kWorthSaying ? Severity::kWarning
                                          : Severity::kInfo,
      .confidence = 0.9,
      .summary = fmt::format("{} take {:.0f}% of the training time",
                             is_callback ? "callbacks" : "checkpoints", 100 * share),
      .evidence = {fmt::format(
          "{} of {}{}",
          duration_text(e.spent_s(is_callback ? StepPhase::kCallbacks : StepPhase::kCheckpoint)),
          duration_text(e.total_s()),
          is_callback && !name.empty() ? fmt::format(", {} of it in {}", duration_text(spent), name)
                                       : "")},
      .where = is_callback ? name : "checkpoint",
      .fix = is_callback
                 ? "call the callback less often, or move its work to another thread"
                 : "write checkpoints less often (--every-steps; .every_steps, .every_s in fit's "
                   ".checkpoint options) or to a faster disk",
      .predicted_gain = 1 / (1 - std::min(0.95, share))};
}

std::optional<Finding> stuck_callback(const Evidence& e) {
  if (!e.stuck() || e.last.phase != RunPhase::kCallbacks || e.last.phase_s < kStuckS)
    return std::nullopt;
  return Finding{.cause = Cause::kSlowCallback,
                 .severity = Severity::kCritical,
                 .confidence = 0.9,
                 .summary = fmt::format(
                     "a callback (code that is called between steps) has been running for {:.0f} s "
                     "without returning",
                     e.last.phase_s),
                 .evidence = {fmt::format("{:.2f} cores work meanwhile", e.quiet_cores())},
                 .where = e.run.callbacks.size() == 1 ? e.run.callbacks[0] : "callbacks",
                 .fix =
                     "look at what the callback waits for (a server, a lock, a full disk), and "
                     "give it a time limit"};
}

std::optional<Finding> first_step(const Evidence& e) {
  double took = e.last.phase == RunPhase::kFirstStep && e.running() ? e.last.phase_s : 0;
  for (const TracePhase& phase : e.trace.phases)
    if (phase.name == RunPhase::kFirstStep) took = std::max(took, phase.seconds);
  if (took < kLongFirstStep) return std::nullopt;
  return Finding{
      .cause = Cause::kFirstStepCompiling,
      .severity = Severity::kInfo,
      .confidence = 0.7,
      .summary = fmt::format("not stuck: the first step alone took {}", duration_text(took)),
      .evidence = {e.steady() ? fmt::format("later ones take {}", duration_text(e.step_s()))
                              : fmt::format("{:.2f} cores work meanwhile", e.quiet_cores())},
      .where = "first step",
      .fix =
          "nothing to do: the first step loads libraries, chooses how to compute and allocates "
          "memory; later steps are faster"};
}

}  // namespace headway
