#pragma once

#include <optional>

#include "headway/doctor/evidence.h"
#include "headway/doctor/ledger.h"
#include "headway/doctor/losses.h"
#include "headway/doctor/outside_evidence.h"

namespace headway {

// Everything that rules may ask about a trace, whichever eye wrote it. What an eye cannot see is
// absent. Refers to the trace.
class Observations {
 public:
  explicit Observations(const Trace& trace);

  const Trace& trace;
  const Evidence counters;  // from the kernel; for the inside eye also the run's own
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
  double step_s() const;  // recently; 0: not known
  double cpus() const;
  std::optional<double> gpu_busy() const;  // share of the time, where one is used
  // What the units of the GPU do; nullptr unless the driver measures it and did so long enough.
  const GpuWork* gpu_work() const;

  // For how long nothing new has come (no step, no output, no reading); 0 while something moves.
  double quiet_s() const;
  // ... and no thread computes either.
  bool stands_still() const;
};

// A run seen from outside is called stuck after this many seconds without anything new. For runs
// seen from inside see kStuckS and kStuckSteps (evidence.h).
inline constexpr double kStillAfterS = 8;

}  // namespace headway
