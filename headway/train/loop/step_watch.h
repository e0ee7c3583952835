#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "headway/observe/trace_recorder.h"
#include "headway/train/learn/optimizer_state.h"
#include "headway/train/loop/vital_signs.h"

// Inside train/: which steps are looked at, for the inside eye.
namespace headway {

// Its order of calls: begin() once, then for every step look_at(), observer(), update().
class StepWatch {
 public:
  // Without telemetry no step is ever looked at.
  StepWatch(TraceRecorder& recorder, bool telemetry)
      : recorder_(recorder), telemetry_(telemetry), watching_(telemetry) {}

  // `layers` may be null.
  void begin(const std::vector<NamedWeight>& weights, const std::vector<LayerPlan>* layers);

  void look_at(int64_t step);              // if it is time
  LayerObserver* observer();               // null: this step is not looked at
  void update(OptimizerState& optimizer);  // one step of the optimizer

  void watch(bool on);  // off: the recorder rests too

 private:
  TraceRecorder& recorder_;
  const bool telemetry_;
  bool watching_;
  std::optional<VitalSigns> signs_;  // since begin()
};

}  // namespace headway
