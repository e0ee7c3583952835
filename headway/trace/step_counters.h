#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "headway/core/clock.h"

namespace headway {

// What the time of a training step is spent on.
enum class StepPhase : uint8_t {
  kWaitForData,
  kUpload,
  kForward,
  kBackward,
  kOptimizer,
  kMetrics,
  kCallbacks,
  kCheckpoint,
  kValidation,
  kConsumer,  // what a program that does not train does with a batch
};
inline constexpr std::string_view kStepPhaseNames[] = {
    "waiting for data", "upload",    "forward",    "backward",   "optimizer",
    "metrics",          "callbacks", "checkpoint", "validation", "consumer"};
inline constexpr size_t kStepPhases = std::size(kStepPhaseNames);
inline constexpr size_t kTrainingPhases = kStepPhases - 1;  // without the consumer's

// Seconds spent in each phase.
struct StepTimes {
  std::array<double, kStepPhases> seconds{};

  double operator[](StepPhase phase) const { return seconds[static_cast<size_t>(phase)]; }
  double total() const {
    double sum = 0;
    for (const double s : seconds) sum += s;
    return sum;
  }
};

// Always-on telemetry of one training run. The training thread adds; any thread may read.
class StepCounters {
 public:
  // Adds the time since the last mark to `phase`.
  void mark(StepPhase phase) {
    const int64_t now = now_ns();
    ns_[static_cast<size_t>(phase)].fetch_add(now - last_, std::memory_order_relaxed);
    last_ = now;
  }
  // The time since the last mark is not counted.
  void restart() { last_ = now_ns(); }
  void step_done(int64_t samples) {
    steps_.fetch_add(1, std::memory_order_relaxed);
    samples_.fetch_add(samples, std::memory_order_relaxed);
  }

  int64_t steps() const { return steps_.load(std::memory_order_relaxed); }
  int64_t samples() const { return samples_.load(std::memory_order_relaxed); }
  StepTimes times() const {
    StepTimes times;
    for (size_t i = 0; i < kStepPhases; ++i)
      times.seconds[i] = 1e-9 * double(ns_[i].load(std::memory_order_relaxed));
    return times;
  }

 private:
  std::array<std::atomic<int64_t>, kStepPhases> ns_{};
  std::atomic<int64_t> steps_{0}, samples_{0};
  int64_t last_ = 0;  // used by the training thread only
};

}  // namespace headway
