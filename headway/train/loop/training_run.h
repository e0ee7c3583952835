#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headway/observe/trace_recorder.h"
#include "headway/train/loop/callback.h"
#include "headway/train/loop/saved_training.h"
#include "headway/train/loop/step_watch.h"
#include "headway/train/loop/trained_state.h"
#include "headway/train/loop/training_view.h"

// Inside train/: a run as its callbacks see it.
namespace headway {

struct TrainingProgress {
  int64_t epoch = 0, step = 0, step_in_epoch = 0;
  int64_t accumulated = 0;  // batches whose gradients wait for an optimizer step
};

// How far the run is, what it trains, why it ends, and what it has warned of. The loop advances the
// progress; callbacks see the rest as Training.
class TrainingRun : public Training {
 public:
  TrainingRun(int64_t epochs, TrainingView& view, TraceRecorder& recorder, StepWatch& watch)
      : epochs_(epochs), view_(view), recorder_(recorder), watch_(watch) {}

  int64_t epoch() const override { return progress.epoch; }
  int64_t epochs() const override { return epochs_; }
  int64_t step() const override { return progress.step; }
  double learning_rate() const override { return trained_->optimizer().learning_rate(); }
  void scale_learning_rate(double factor) override;
  void stop(const std::string& reason) override;
  void remember_weights() override { trained_->remember_weights(); }
  bool recall_weights() override { return trained_->recall_weights(); }
  void save_weights(const std::string& path) const override;
  void warn(const std::string& text) override;
  void watch(bool on) override { watch_.watch(on); }

  TrainingProgress progress;

  void built(TrainedState trained) { trained_.emplace(std::move(trained)); }
  TrainedState& trained() { return *trained_; }  // once built

  void interrupt(const std::string& reason);  // unlike after stop(), a resumed run goes on
  bool stopping() const { return !stopped_by_.empty(); }
  bool interrupted() const { return interrupted_; }
  const std::string& stopped_by() const { return stopped_by_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

  // Progress and why it stopped; not the trained state.
  void save(SavedTraining& to) const;
  void restore(const SavedTraining& from);

 private:
  const int64_t epochs_;
  TrainingView& view_;
  TraceRecorder& recorder_;
  StepWatch& watch_;
  std::optional<TrainedState> trained_;
  std::string stopped_by_;  // empty: it goes on
  bool interrupted_ = false;
  std::vector<std::string> warnings_;
};

}  // namespace headway
