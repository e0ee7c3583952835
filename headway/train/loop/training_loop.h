#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <atomic>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "headway/data/dataset.h"
#include "headway/observe/trace_recorder.h"
#include "headway/trace/step_counters.h"
#include "headway/train/learn/metric_state.h"
#include "headway/train/learn/optimizer_state.h"
#include "headway/train/loop/callback.h"
#include "headway/train/loop/checkpoint.h"
#include "headway/train/loop/saved_training.h"
#include "headway/train/loop/training_view.h"
#include "headway/train/loop/vital_signs.h"
#include "headway/train/model/model.h"
#include "headway/train/model/network.h"

// Inside train/: the one loop behind fit() and loop().
namespace headway {

// What is trained, and how a batch becomes a loss.
struct LoopSpec {
  // Called with the first batch, which tells the shapes: all weights that a checkpoint must hold;
  // the trainable ones move.
  std::function<std::vector<NamedWeight>(const Batch&)> build;
  std::function<std::string()> description;  // once built; a checkpoint of another is refused
  Optimizer optimizer;
  c10::Device device = at::kCPU;
  ProductType products = ProductType::kUnknown;
  // Forward pass and loss, one number. Marks the phases it goes through.
  // Shows the observer, when there is one, what each layer did.
  std::function<at::Tensor(Batch&, StepCounters&, LayerObserver*)> loss;
  std::function<const std::vector<LayerPlan>*()> layers{};  // once built; may be empty
  // Where a loss that is not a number came from; the batch is sound. May be empty.
  std::function<std::string(const Batch&)> bad_origin{};
  // What the first loss depends on and nobody moves, in words; may be empty.
  std::function<std::string()> left_out{};
  std::vector<MetricState>* metrics = nullptr;  // updated by `loss`; shown, saved, reset here
  std::function<Logs()> validate{};             // may be empty
  bool threads_chosen = true;                   // not by the user: a resumed run takes the old ones
};

// Whatever drops units or shuffles on that device.
std::vector<std::pair<std::string, at::Generator>> random_generators(c10::Device device);

// Who owns what: the loop owns epochs, batches, gradients, optimizer, checkpoints, callbacks and
// what is shown; the spec owns the forward pass. Training thread only.
class TrainingLoop : public Training {
 public:
  TrainingLoop(LoopSpec spec, const FitOptions& options, TrainingView& view);
  ~TrainingLoop() override;

  History run(const Dataset& dataset);  // what it throws is in the trace, too

  int64_t epoch() const override { return epoch_; }
  int64_t epochs() const override { return options_.epochs; }
  int64_t step() const override { return step_; }
  double learning_rate() const override { return optimizer_->learning_rate(); }
  void scale_learning_rate(double factor) override {
    optimizer_->set_scale(optimizer_->scale() * factor);
  }
  void stop(const std::string& reason) override;
  void remember_weights() override;
  bool recall_weights() override;
  void save_weights(const std::string& path) const override;
  void warn(const std::string& text) override;
  void watch(bool on) override;

 private:
  History train(const Dataset& dataset);
  RunFacts facts(const Dataset& dataset) const;
  void plan_epochs(const Dataset& dataset);
  void stop_pipeline();
  void start_pipeline(const Dataset& dataset, std::optional<PipelineState> state);
  std::optional<Batch> next_batch();
  void begin(const Dataset& dataset);
  void run_epoch(const Dataset& dataset);
  void run_steps();
  void finish_epoch();
  void train_batch(Batch batch);
  void settle_losses();
  void explain_bad_loss(const Batch& batch);
  void warn_of_left_out();
  void replay_first_batch();
  void await_quiet_feed() const;
  double replayed_step_s(Batch batch);
  double replayed_or_refused_s(const Batch& batch);
  void sound_alarm(const Trace& trace, const std::string& waits);
  template <typename F>
  void call_back(F&& call);  // every callback, each one's time counted
  void note_loss(const Batch& batch, int64_t step, double loss, int64_t samples);
  void update_weights();
  Logs logs();
  TraceEpoch traced_epoch(const Logs& logs) const;  // the one that ends

  void write_checkpoint();
  void checkpoint_if_due();
  SavedTraining saved() const;
  SavedTraining read_saved() const;
  void find_checkpoint();
  std::optional<PipelineState> restore_position();
  void restore_weights();

  LoopSpec spec_;
  FitOptions options_;
  TrainingView& view_;
  std::vector<NamedWeight> weights_;
  std::optional<OptimizerState> optimizer_;  // these three: once built
  std::optional<VitalSigns> signs_;
  StepCounters counters_;
  std::optional<TraceRecorder> recorder_;  // while it runs
  std::optional<CheckpointFolder> checkpoints_;
  History history_;

  std::optional<Pipeline> pipeline_;
  std::optional<Batch> first_batch_;              // read to build the model, not trained on yet ...
  std::optional<PipelineState> start_position_;   // ... and where it comes from
  std::optional<CheckpointFolder::Found> found_;  // while resuming ...
  std::optional<SavedTraining> saved_;            // ... and what it says
  bool watching_;                                 // now
  bool one_pipeline_ = false;                     // for all epochs: the next one is prefetched
  int64_t steps_ = -1;                            // per epoch; -1: until the dataset ends

  int64_t epoch_ = 0, step_ = 0, step_in_epoch_ = 0;
  int64_t accumulated_ = 0;  // batches whose gradients wait for an optimizer step
  double loss_total_ = 0, loss_count_ = 0;
  struct Pending {
    at::Tensor loss;
    Batch batch;
    int64_t step, samples;
  };
  std::vector<Pending> pending_;    // losses still on the GPU
  bool poisoned_ = false;           // a loss was not a number: the weights are not worth keeping
  std::string stopping_;            // why; empty: not
  bool interrupted_ = false;        // by should_stop: a resumed run goes on
  std::atomic<bool> stuck_{false};  // the watchdog has ended the wait for data
  std::vector<at::Tensor> remembered_;
  int64_t last_checkpoint_step_ = -1, last_checkpoint_ns_ = 0;
  bool any_step_ = false;
  bool batch_callbacks_ = false;  // some callback wants every batch
};

}  // namespace headway
