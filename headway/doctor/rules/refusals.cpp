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
      .summary =
          fmt::format("a checkpoint could not be written, and the training went on: {}", *note),
      .evidence = {*note},
      .where = "checkpoint",
      .fix =
          "if the disk is full: free space on it, or keep fewer checkpoints (--keep; .keep in "
          "fit's .checkpoint options); if this user may not write there: give another folder "
          "(--checkpoint; .folder)"};
}

}  // namespace headway
