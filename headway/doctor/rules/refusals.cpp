#include <fmt/format.h>

#include "headway/core/text.h"
#include "headway/doctor/rules/counters.h"

namespace headway {
// "nan-loss: photos/7.jpg: 'image' is nan at value 12", as an Error names its cause.
std::optional<Finding> refused(const Evidence& e) {
  const auto note = e.note(NoteKind::kCause);
  if (!note) return std::nullopt;
  const size_t colon = note->find(": ");
  if (colon == std::string::npos) return std::nullopt;
  return Finding{
      .cause = from_text<Cause>(note->substr(0, colon)).value_or(Cause::kUnknown),
      .severity = Severity::kCritical,
      .confidence = 1,
      .summary = note->substr(colon + 2),
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
      .fix = "make room, keep fewer checkpoints (.keep), or name a folder on another disk"};
}

}  // namespace headway
