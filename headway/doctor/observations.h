#pragma once

#include <optional>

#include "headway/doctor/evidence.h"
#include "headway/doctor/ledger.h"
#include "headway/doctor/losses.h"
#include "headway/doctor/outside_evidence.h"

namespace headway {

// Everything the rules may ask of a trace, whichever eye wrote it. What an eye cannot see is not
// there. Refers to the trace.
class Observations {
 public:
  explicit Observations(const Trace& trace);

  const Trace& trace;
  const Evidence counters;                     // of the kernel; of the inside eye the run's own too
  const std::optional<OutsideEvidence> looks;  // from outside
  const Ledger ledger;                         // of the steady part
  const Ledger late;                           // of its last seconds
  const Losses losses;

  // The run's own counters: nullptr from outside.
  const Evidence* inside() const { return looks ? nullptr : &counters; }
  // What was seen from outside: nullptr from inside.
  const Outside* seen() const { return looks ? &looks->seen : nullptr; }
  const SeenProcess* main() const { return looks ? looks->main() : nullptr; }

  bool running() const;
  bool stepped() const;
  double step_s() const;  // of late; 0: not known
  double cpus() const;
  std::optional<double> gpu_busy() const;  // share of the time, where one is used
  // What its units do, where the driver measures that and was asked long enough; else nullptr.
  const GpuWork* gpu_work() const;

  // Nothing new comes: no step, no output, no reading. For how long; 0 while it moves.
  double quiet_s() const;
  // ... and nobody computes either.
  bool stands_still() const;
};

// Seconds without anything new, after which a run is called stuck; the only such bound.
inline constexpr double kStillAfterS = 8;

}  // namespace headway
