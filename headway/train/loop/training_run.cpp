#include "headway/train/loop/training_run.h"

namespace headway {

void TrainingRun::scale_learning_rate(double factor) {
  OptimizerState& optimizer = trained_->optimizer();
  optimizer.set_scale(optimizer.scale() * factor);
}

void TrainingRun::stop(const std::string& reason) {
  if (!stopping()) stopped_by_ = reason;
}

void TrainingRun::interrupt(const std::string& reason) {
  interrupted_ = true;
  stop(reason);
}

void TrainingRun::save_weights(const std::string& path) const {
  write_weights(path, trained_->weights());
}

void TrainingRun::warn(const std::string& text) {
  view_.say("warning: " + text);
  recorder_.note(NoteKind::kWarning, text);
  warnings_.push_back(text);
}

void TrainingRun::save(SavedTraining& to) const {
  to.epoch = progress.epoch;
  to.step = progress.step;
  to.step_in_epoch = progress.step_in_epoch;
  to.accumulated = progress.accumulated;
  to.stopped_by = interrupted_ ? "" : stopped_by_;
}

void TrainingRun::restore(const SavedTraining& from) {
  progress = {.epoch = from.epoch,
              .step = from.step,
              .step_in_epoch = from.step_in_epoch,
              .accumulated = from.accumulated};
  stopped_by_ = from.stopped_by;
}

}  // namespace headway
