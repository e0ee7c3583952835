#include "headway/train/loop/step_watch.h"

#include <utility>

namespace headway {

void StepWatch::begin(const std::vector<NamedWeight>& weights,
                      const std::vector<LayerPlan>* layers) {
  numbers_.emplace(weights, layers);
  recorder_.weights(numbers_->weights(), numbers_->layers());
}

void StepWatch::measure(int64_t step) {
  if (watching_) numbers_->measure(step);
}

LayerObserver* StepWatch::observer() { return numbers_->measuring() ? &*numbers_ : nullptr; }

void StepWatch::before_update() {
  if (numbers_->measuring()) numbers_->before_update();
}

void StepWatch::after_update() {
  if (numbers_->measuring()) recorder_.numbers(numbers_->after_update());
}

void StepWatch::watch(bool on) {
  if (!telemetry_ || on == std::exchange(watching_, on)) return;
  if (!on) return recorder_.rest();
  const int64_t rested = recorder_.resume();
  if (numbers_) numbers_->put_off(rested);
}

}  // namespace headway
