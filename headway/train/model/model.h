#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headway/data/dataset.h"
#include "headway/train/learn/loss.h"
#include "headway/train/learn/metric.h"
#include "headway/train/learn/optimizer.h"
#include "headway/train/loop/callback.h"
#include "headway/train/loop/history.h"
#include "headway/train/model/layer.h"

namespace headway {

enum class Precision { kFull, kBFloat16 };  // kBFloat16: float32 weights, bfloat16 products

struct ModelOptions {
  std::string name = "sequential";
  std::string device = "auto";    // "cpu", "cuda", "cuda:1"; auto: a GPU if one can be used
  DType dtype = DType::kFloat32;  // or kFloat64
  Precision precision = Precision::kFull;
  uint64_t seed = 0;  // of the initial weights; the same seed gives the same model
};

struct CompileOptions {
  Optimizer optimizer{};
  Loss loss{};
  std::vector<Metric> metrics{};
};

// Which fields of a batch are input and label. Empty: "image"/"label", "x"/"y", or the first and
// the second field.
struct FieldNames {
  std::string input{}, target{};
  std::string sample_weight = "sample_weight";  // used when there is such a field
};

// How the cores are divided. What is not set is chosen; see threads.h.
struct ThreadCounts {
  std::optional<int> intra_op{};  // inside one operation of libtorch or BLAS
  std::optional<int> inter_op{};
  std::optional<int> input{};  // the pipeline's workers
};

// Everything needed to go on after kill -9, in files that appear whole or not at all.
struct CheckpointOptions {
  std::string folder{};  // empty: none are written
  // In addition to the one at the end of each epoch:
  std::optional<int64_t> every_steps{};
  std::optional<double> every_s{};
  int64_t keep = 3;     // how many of the newest are kept
  bool resume = false;  // go on from the newest whole one; from the start when there is none
};

enum class Show { kAuto, kNothing, kLines, kLive };  // kAuto: live on a terminal, else lines

// What to do when a run makes no progress (no step for 10 s, or 20 steps' time if that is longer).
// In any case it is reported, with the cause and the stacks of all threads.
enum class WhenStuck {
  kGoOn,   // wait: it may go on
  kStop,   // while it waits for data: a checkpoint, then the end; else like kAbort
  kAbort,  // end the process: for machines that start it again with `resume`
};

struct FitOptions {
  int64_t epochs = 1;
  std::optional<int64_t> steps_per_epoch{};  // needed when the dataset has no end
  int64_t batch_size = 32;                   // of plain tensors; a dataset brings its own
  bool shuffle = true;                       // plain tensors: a new order in each epoch
  std::optional<Dataset> validation{};
  std::optional<int64_t> validation_steps{};  // default: all of it
  int64_t validation_every = 1;               // epochs
  std::map<int64_t, double> class_weight{};
  int64_t accumulate = 1;  // batches per optimizer step, their gradients averaged
  std::vector<CallbackPtr> callbacks{};
  CheckpointOptions checkpoint{};
  FieldNames fields{};
  ThreadCounts threads{};
  uint64_t seed = 0;  // of dropout and of the order of plain tensors
  Show show = Show::kAuto;
  std::string trace{};  // file for the doctor, written as it goes; empty: in memory only
  // Called with the trace so far, a few times a second, on another thread: for live views.
  std::function<void(const Trace&)> on_look{};
  bool telemetry = true;  // false: nothing is watched, to measure what watching costs
  WhenStuck when_stuck = WhenStuck::kGoOn;
  // Before the run: replays the first batch, as it is and doubled, to measure what an infinitely
  // fast pipeline and a larger batch would gain. Takes some seconds; weights stay as they are.
  bool replay = false;
  std::function<bool()> should_stop{};  // asked between steps; true: a checkpoint, then the end
};

struct EvaluateOptions {
  std::optional<int64_t> steps{};  // default: to the end of the dataset
  int64_t batch_size = 32;
  FieldNames fields{};
};

struct SummaryOptions {
  int64_t batch_size = 32;
};

// A network to be trained, in Keras' words.
//
//   Model model = Sequential({
//       Conv2D(32, 3, {.activation = "relu"}),
//       MaxPooling2D(2),
//       Flatten(),
//       Dense(10, {.activation = "softmax"}),
//   });
//   model.compile({.optimizer = Adam(1e-3), .loss = SparseCategoricalCrossentropy(),
//                  .metrics = {Accuracy()}});
//   model.fit(photos.batch(32), {.epochs = 5, .validation = others.batch(32)});
//
// The first batch (or Input, or build()) fixes the shapes; until then nothing is allocated. A
// model whose weights, gradients and optimizer do not fit in memory is refused before that, with
// the sum. Call from one thread.
class Model {
 public:
  explicit Model(std::vector<Layer> layers, ModelOptions options = {});
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  // `input` is the shape of one sample.
  void build(const Shape& input);
  bool built() const;
  void compile(CompileOptions options);

  History fit(const Dataset& dataset, FitOptions options = {});
  History fit(const Tensor& x, const Tensor& y, FitOptions options = {});
  Logs evaluate(const Dataset& dataset, EvaluateOptions options = {});
  Logs evaluate(const Tensor& x, const Tensor& y, EvaluateOptions options = {});
  // One row per sample.
  Tensor predict(const Dataset& dataset, EvaluateOptions options = {});
  Tensor predict(const Tensor& x, EvaluateOptions options = {});

  // Keras' table: layers, output shapes, parameters; and the memory that weights, gradients,
  // optimizer and the activations of a batch take. Needs shapes: Input or build().
  std::string summary(SummaryOptions options = {}) const;
  int64_t parameter_count() const;
  const std::string& name() const;
  const std::string& device() const;

  // "conv2d.weight"; libtorch's layout. Copies.
  std::vector<std::string> weight_names() const;
  Tensor weight(const std::string& name) const;
  void set_weight(const std::string& name, const Tensor& value);
  void save_weights(const std::string& path) const;  // safetensors
  void load_weights(const std::string& path);        // those of a checkpoint too

  struct Impl;  // for torch.h
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

Model Sequential(std::vector<Layer> layers, ModelOptions options = {});

}  // namespace headway
