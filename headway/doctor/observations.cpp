#include "headway/doctor/observations.h"

#include <algorithm>

namespace headway {
namespace {

constexpr double kLateS = 14;

std::optional<OutsideEvidence> looks_of(const Trace& trace) {
  if (!trace.outside.seen) return std::nullopt;
  return std::optional<OutsideEvidence>(std::in_place, trace);
}

}  // namespace

Observations::Observations(const Trace& t)
    : trace(t), counters(t), looks(looks_of(t)), ledger(t), late(t, kLateS), losses(t) {}

bool Observations::running() const { return looks ? looks->running() : counters.running(); }

bool Observations::stepped() const { return looks ? looks->stepped() : counters.started(); }

double Observations::step_s() const {
  return looks ? looks->seen.progress.step_s : counters.step_s();
}

double Observations::cpus() const { return looks ? looks->cpus() : counters.cpus(); }

std::optional<double> Observations::gpu_busy() const {
  if (!looks) return counters.gpu_busy();
  if (const GpuWork* work = gpu_work()) return work->busy;
  for (const SeenGpu& gpu : looks->seen.gpus)
    if (gpu.used) return gpu.utilisation;
  return std::nullopt;
}

const GpuWork* Observations::gpu_work() const {
  constexpr double kLongEnoughS = 3;
  if (!looks) return nullptr;
  for (const SeenGpu& gpu : looks->seen.gpus)
    if (gpu.used) return gpu.work.seconds >= kLongEnoughS ? &gpu.work : nullptr;
  return nullptr;
}

double Observations::quiet_s() const {
  if (!running()) return 0;
  return looks ? std::min(looks->seen.quiet_s, looks->seen.main_still_s) : counters.quiet_s();
}

bool Observations::stands_still() const {
  if (!looks) return counters.stuck() && counters.quiet_cores() < kStillCores;
  return running() && quiet_s() >= kStillAfterS && looks->seen.cores < kStillCores;
}

}  // namespace headway
