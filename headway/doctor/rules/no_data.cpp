// Training has asked for a batch, but none arrives.
#include <fmt/format.h>

#include <algorithm>

#include "headway/core/text.h"
#include "headway/doctor/rules/counters.h"

namespace headway {
namespace {

constexpr double kAllDropped = 0.95;

// The operator of the worker that does not return; if there is none, the source of the data.
void put_stalled(const Evidence& e, Finding& f) {
  const auto stall = std::find_if(e.trace.notes.rbegin(), e.trace.notes.rend(),
                                  [](const auto& n) { return n.kind == NoteKind::kStall; });
  if (stall != e.trace.notes.rend() && !stall->where.empty()) {
    f.where = stall->where;
    if (stall->stage >= 0) f.stage = static_cast<size_t>(stall->stage);
  } else if (!e.trace.stages.empty()) {
    f.where = e.trace.stages.back().name;
    f.stage = e.trace.stages.size() - 1;
  }
}

bool waits_for_nothing(const Evidence& e) {
  return e.stuck() &&
         (e.last.phase == RunPhase::kFirstBatch || e.last.phase == RunPhase::kWaitingForData);
}

}  // namespace

std::optional<Finding> shuffle_fill(const Evidence& e) {
  if (!waits_for_nothing(e) || e.last.batches > 0 || !e.feed_moves()) return std::nullopt;
  if (std::none_of(e.run.operators.begin(), e.run.operators.end(),
                   [](const OpFacts& op) { return op.fills_first; })) {
    return std::nullopt;
  }
  const auto held = double(e.last.buffer_held), wanted = double(e.last.buffer_wanted);
  if (held >= wanted && wanted > 0) return std::nullopt;
  const double left = held > 0 ? e.last.phase_s * (wanted - held) / held : 0;
  return Finding{
      .cause = Cause::kShuffleFill,
      .severity = Severity::kWarning,
      .confidence = 0.9,
      .summary =
          fmt::format("not stuck: the shuffle buffer is being filled before the first batch{}",
                      left > 0 ? ", " + duration_text(left) + " to go" : ""),
      .evidence = {fmt::format("{} of {} elements after {:.0f} s, {} held",
                               with_commas(e.last.buffer_held), with_commas(e.last.buffer_wanted),
                               e.last.phase_s, size_text(double(e.last.feed_ram_bytes)))},
      .where = "shuffle",
      .fix =
          "wait; or move .shuffle() in front of reading and decoding, where it shuffles file "
          "names, or set a smaller .minimum_fill in its options"};
}

std::optional<Finding> source_never_yields(const Evidence& e) {
  if (!waits_for_nothing(e) || shuffle_fill(e)) return std::nullopt;
  int64_t in = 0, dropped = 0;
  for (const StageReading& s : e.last.stages) in = std::max(in, s.in), dropped += s.dropped;
  dropped += e.last.skipped;
  const bool all_dropped = in > 0 && double(dropped) >= kAllDropped * double(in);
  if (e.feed_moves() && !all_dropped) return std::nullopt;  // slow, but delivering
  if (!e.feed_moves() && e.quiet_cores() < kStillCores) return std::nullopt;
  Finding f{
      .cause = Cause::kSourceNeverYields, .severity = Severity::kCritical, .confidence = 0.85};
  f.summary = e.last.batches == 0 ? "no batch was ever produced"
                                  : fmt::format("no batch for {:.0f} s", e.quiet_s());
  put_stalled(e, f);
  if (all_dropped) {
    f.evidence = {fmt::format("{} of {} elements were dropped or skipped", dropped, in)};
    f.fix =
        "check which samples .filter() lets through, and look at the first error that is skipped "
        "(.errors in with_options)";
  } else {
    f.evidence = {fmt::format("{} elements in {:.0f} s, while {:.2f} cores work", in,
                              e.last.phase_s, e.quiet_cores())};
    f.fix =
        "the source runs but yields nothing: look for errors that it swallows and for a loop that "
        "never ends";
  }
  return f;
}

std::optional<Finding> worker_deadlock(const Evidence& e) {
  if (!waits_for_nothing(e) || e.feed_moves() || e.quiet_cores() >= kStillCores)
    return std::nullopt;
  Finding f{.cause = Cause::kWorkerDeadlock,
            .severity = Severity::kCritical,
            .confidence = 0.75,
            .summary = fmt::format("the workers that make data have stood still for {:.0f} s",
                                   e.quiet_s()),
            .evidence = {fmt::format("no element moves and {:.2f} cores work", e.quiet_cores())},
            .fix =
                "the function waits for something that does not come: a lock that is "
                "already held, a queue that nobody fills, a server that does not answer"};
  put_stalled(e, f);
  return f;
}

// Elements arrive, but not enough for a batch yet.
std::optional<Finding> slow_first_batch(const Evidence& e) {
  if (!waits_for_nothing(e) || e.last.batches > 0 || !e.feed_moves()) return std::nullopt;
  if (shuffle_fill(e) || source_never_yields(e) || e.last.stages.empty()) return std::nullopt;
  return Finding{
      .cause = Cause::kInputBound,
      .severity = Severity::kWarning,
      .confidence = 0.6,
      .summary = "not stuck: the first batch is being made, which takes long",
      .evidence = {fmt::format("{} elements in {:.0f} s", e.last.stages[0].in, e.last.phase_s)},
      .where = e.trace.stages.empty() ? "" : e.trace.stages[0].name,
      .stage = e.trace.stages.empty() ? std::nullopt : std::optional<size_t>(0),
      .fix =
          "wait; to see which operation of the dataset is slow: headway bench feed DATASET, "
          "with the path of your data"};
}

}  // namespace headway
