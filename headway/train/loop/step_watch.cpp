#include "headway/train/loop/step_watch.h"

#include <utility>

namespace headway {

void StepWatch::begin(const std::vector<NamedWeight>& weights,
                      const std::vector<LayerPlan>* layers) {
  signs_.emplace(weights, layers);
  recorder_.weights(signs_->weights(), signs_->layers());
}

void StepWatch::look_at(int64_t step) {
  if (watching_) signs_->look_at(step);
}

LayerObserver* StepWatch::observer() { return signs_->looking() ? &*signs_ : nullptr; }

void StepWatch::update(OptimizerState& optimizer) {
  if (!signs_->looking()) return optimizer.step();
  signs_->before_update();
  optimizer.step();
  recorder_.numbers(signs_->after_update());
}

void StepWatch::watch(bool on) {
  if (!telemetry_ || on == std::exchange(watching_, on)) return;
  if (!on) return recorder_.rest();
  const int64_t rested = recorder_.resume();
  if (signs_) signs_->put_off(rested);
}

}  // namespace headway
