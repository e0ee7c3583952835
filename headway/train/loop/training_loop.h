#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headway/data/dataset.h"
#include "headway/observe/trace_recorder.h"
#include "headway/trace/step_counters.h"
#include "headway/train/loop/callback_list.h"
#include "headway/train/loop/checkpoint.h"
#include "headway/train/loop/epoch_logs.h"
#include "headway/train/loop/pending_losses.h"
#include "headway/train/loop/step_watch.h"
#include "headway/train/loop/training_feed.h"
#include "headway/train/loop/training_run.h"
#include "headway/train/loop/training_view.h"

// Inside train/: the one loop behind fit() and loop().
namespace headway {

// What is trained, and how a batch becomes a loss.
struct LoopSpec {
  // Called with the first batch, which tells the shapes. Returns all weights that a checkpoint must
  // hold; the trainable ones are trained.
  std::function<std::vector<NamedWeight>(const Batch&)> build;
  std::function<std::string()> description;  // once built; a checkpoint with another one is refused
  Optimizer optimizer;
  c10::Device device = at::kCPU;
  ProductType products = ProductType::kUnknown;
  // Forward pass and loss of a batch, one number: ForwardPass in fit.cpp, or what the user gave to
  // loop() (torch.cpp). Marks its phases in the counters, and calls the observer, which may be
  // null, for each layer.
  std::function<at::Tensor(Batch&, StepCounters&, LayerObserver*)> forward_to_loss;
  std::function<const std::vector<LayerPlan>*()> layers{};  // once built; may be empty
  // Where the loss of a finite batch became NaN or infinite. May be empty.
  std::function<std::string(const Batch&)> nonfinite_origin{};
  // Tensors that the first loss depends on and that are not trained, as text. May be empty.
  std::function<std::string()> untrained{};
  std::vector<MetricState>* metrics = nullptr;  // updated by the spec; shown, saved, reset here
  std::function<Logs()> validate{};             // may be empty
  bool threads_chosen = true;  // not set by the user: a resumed run takes the saved ones
};

// The order of epochs, steps, callbacks and checkpoints. The state is in the types it is made of;
// the forward pass is the spec's. Training thread only.
class TrainingLoop {
 public:
  TrainingLoop(LoopSpec spec, const FitOptions& options, TrainingView& view,
               const Dataset& dataset);

  History run();  // what it throws is in the trace, too

 private:
  History train();
  void begin();
  std::optional<FoundCheckpoint> find_checkpoint();
  void restore(const SavedTraining& saved);
  void restore_trained(const FoundCheckpoint& found, const SavedTraining& saved);
  void replay_first_batch();

  void run_epoch();
  void run_steps();
  std::optional<Batch> next_batch();
  void train_batch(Batch batch);
  void update_weights();
  void finish_epoch();
  Logs logs();

  void fetch_losses();
  void note_loss(const Batch& batch, int64_t step, double loss, int64_t samples);
  void note_bad_loss(const Batch& batch, int64_t step, double loss);
  void warn_of_untrained();

  void write_checkpoint();

  LoopSpec spec_;
  FitOptions options_;
  TrainingView& view_;
  const Dataset dataset_;
  CallbackList callbacks_;
  std::optional<CheckpointFolder> checkpoints_;  // when there is a folder for them
  StepCounters counters_;
  TraceRecorder recorder_;
  StepWatch watch_;
  TrainingRun run_;
  std::optional<TrainingFeed> feed_;  // while it runs
  EpochLogs epoch_logs_;
  PendingLosses pending_;  // on a GPU
  History history_;
  bool any_step_ = false;
  bool epoch_is_over_ = false;  // a resumed one, whose last batch had been trained on
  bool bad_loss_seen_ = false;  // a loss was not finite: no more checkpoints are written
};

}  // namespace headway
