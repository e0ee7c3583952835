#include <fmt/format.h>

#include <algorithm>

#include "headway/core/text.h"
#include "headway/doctor/rules/counters.h"

namespace headway {
// The run ended with an error that knew its cause.
std::optional<Finding> refused(const Evidence& e) {
  const auto note = std::find_if(e.trace.notes.rbegin(), e.trace.notes.rend(),
                                 [](const auto& n) { return n.kind == NoteKind::kCause; });
  if (note == e.trace.notes.rend()) return std::nullopt;
  return Finding{
      .cause = note->cause,
      .severity = Severity::kCritical,
      .confidence = 1,
      .summary = note->text,
      .evidence = {fmt::format("the run ended after {} steps and said so", e.last.steps)},
      .where = std::string(text_of(e.last.phase)),
      .fix = e.note(NoteKind::kRemedy).value_or("")};
}

std::optional<Finding> disk_full(const Evidence& e) {
  const auto note = e.note(NoteKind::kCheckpointFailed);
  if (!note) return std::nullopt;
  return Finding{
      .cause = Cause::kLimitsOrDiskFull,
      .severity = Severity::kHigh,
      .confidence = 0.95,
      .summary = "a checkpoint could not be written",
      .evidence = {*note},
      .where = "checkpoint",
      .fix = "free disk space, keep fewer checkpoints (.keep), or use a folder on another disk"};
}

}  // namespace headway
