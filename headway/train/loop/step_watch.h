#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "headway/observe/trace_recorder.h"
#include "headway/train/loop/step_numbers.h"

// Inside train/: measures some steps for the inside eye.
namespace headway {

// Measures and changes nothing. Call begin() once; for every step measure() and observer(), then
// before_update() and after_update() around the step of the optimizer.
class StepWatch {
 public:
  // Without telemetry no step is measured.
  StepWatch(TraceRecorder& recorder, bool telemetry)
      : recorder_(recorder), telemetry_(telemetry), watching_(telemetry) {}

  // `layers` may be null.
  void begin(const std::vector<NamedWeight>& weights, const std::vector<LayerPlan>* layers);

  void measure(int64_t step);  // measures this one if it is time
  LayerObserver* observer();   // null: this step is not measured
  void before_update();
  void after_update();

  void watch(bool on);  // off: the recorder rests too

 private:
  TraceRecorder& recorder_;
  const bool telemetry_;
  bool watching_;
  std::optional<StepNumbers> numbers_;  // since begin()
};

}  // namespace headway
