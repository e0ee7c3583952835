// Model's fit, evaluate and predict.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <cmath>

#include "headway/core/error.h"
#include "headway/train/device/device.h"
#include "headway/train/device/precision.h"
#include "headway/train/device/tensor_bridge.h"
#include "headway/train/device/threads.h"
#include "headway/train/learn/loss_function.h"
#include "headway/train/loop/bad_sample.h"
#include "headway/train/loop/training_loop.h"
#include "headway/train/model/model_impl.h"

namespace headway {
namespace {

constexpr const char* kCheckEmpty =
    "check that its list of files is not empty, and that no .filter() drops every sample";

Dataset dataset_of(const Tensor& x, const Tensor& y) {
  if (x.rank() == 0 || y.rank() == 0 || x.dim(0) != y.dim(0)) {
    throw Error(
        fmt::format("x has shape {} and y has shape {}: they must have the same number of rows",
                    x.shape().str(), y.shape().str()),
        "give one row of y for each row of x");
  }
  return from_tensor_slices({{"x", x}, {"y", y}});
}

// One weight per sample: its own, times its class'.
at::Tensor sample_weights(const Sample& sample, const at::Tensor& class_weights) {
  if (!class_weights.defined()) return sample.weights;
  const bool one_hot = sample.y.is_floating_point() && sample.y.dim() > 1 && sample.y.size(-1) > 1;
  const at::Tensor classes = (one_hot ? sample.y.argmax(-1) : sample.y.to(at::kLong)).flatten();
  const at::Tensor of_class = class_weights.index_select(0, classes);
  return sample.weights.defined() ? sample.weights * of_class : of_class;
}

at::Tensor class_weight_tensor(const std::map<int64_t, double>& weights, int64_t classes,
                               const Network& network) {
  if (weights.empty()) return {};
  at::Tensor out = at::ones({std::max<int64_t>(classes, 2)}, at::kDouble);
  for (const auto& [label, weight] : weights) {
    if (label < 0 || label >= out.size(0)) {
      throw Error(fmt::format("class_weight has class {}, which is outside 0 .. {}", label,
                              out.size(0) - 1),
                  "give classes by their number, counted from 0");
    }
    out[label] = weight;
  }
  return out.to(network.weights().empty() ? at::Tensor(at::empty({})) : network.weights()[0].value);
}

// What fit() gives the training loop: a batch through the network, to its loss and metrics.
// Gradients and the update of the weights are the loop's.
class ForwardPass {
 public:
  ForwardPass(Model::Impl& model, const FitOptions& options, std::vector<MetricState>& metrics)
      : model_(model), options_(options), metrics_(metrics) {}

  void prepare(const Batch& batch) {
    fields_ = resolve_fields(options_.fields, batch, true);
    const Network& network = model_.built_network();
    const Shape& output = network.plan().back().output;
    class_weights_ = class_weight_tensor(
        options_.class_weight, output.rank() > 0 ? output[output.rank() - 1] : 1, network);
    const Activation last = network.last_activation();
    logits_ = wants_logits(model_.compiled->loss, last);
    missing_ = logits_ ? last : Activation();
  }

  at::Tensor run(const Batch& batch, StepCounters& counters, LayerObserver* observer) {
    const Sample sample = model_.sample_of(batch, fields_, counters.steps() + 1);
    const at::Tensor weights = sample_weights(sample, class_weights_);
    counters.mark(StepPhase::kUpload);
    at::Tensor output, loss;
    {
      const PrecisionGuard precision(model_.options.precision, model_.device);
      output = model_.network->forward(sample.x, true, logits_, observer);
      loss = compute_loss(model_.compiled->loss, sample.y, output, missing_, weights);
    }
    const at::Tensor penalty = model_.network->regularization();
    if (penalty.defined()) loss = loss + penalty;
    counters.mark(StepPhase::kForward);
    const c10::NoGradGuard guard;
    for (MetricState& m : metrics_) m.update(sample.y, output.detach(), missing_, weights);
    counters.mark(StepPhase::kMetrics);
    return loss;
  }

  std::string nonfinite_origin(const Batch& batch) const {
    return find_nonfinite_origin(*model_.network,
                                 upload(to_torch(batch[fields_.input]), model_.device));
  }

 private:
  Model::Impl& model_;
  const FitOptions& options_;
  std::vector<MetricState>& metrics_;
  FieldNames fields_;
  at::Tensor class_weights_;
  bool logits_ = false;
  Activation missing_;
};

std::vector<MetricState> metric_states(const CompileOptions& compiled) {
  std::vector<MetricState> states;
  for (const Metric& m : compiled.metrics) states.emplace_back(m, compiled.loss);
  return states;
}

void check_batched(const Batch& batch, const FieldNames& fields) {
  const Tensor& x = batch[fields.input];
  const Tensor& y = batch[fields.target];
  if (x.rank() > 0 && y.rank() > 0 && x.dim(0) == y.dim(0)) return;
  throw Error(
      fmt::format(
          "'{}' has shape {} and '{}' has shape {}: they do not have the same number of samples",
          fields.input, x.shape().str(), fields.target, y.shape().str()),
      "both must come from the same samples; if the dataset gives single samples, add .batch(...)");
}

}  // namespace

FieldNames resolve_fields(FieldNames fields, const Batch& batch, bool with_label) {
  const auto& all = batch.fields();
  if (all.empty())
    throw Error("the batch has no fields", "give each element of the dataset a field, such as 'x'");
  const auto pick = [&](std::string& name, const char* image, const char* plain, size_t place) {
    if (!name.empty()) {
      (void)batch[name];  // Error lists the fields when it is missing
    } else if (batch.find(image)) {
      name = image;
    } else if (batch.find(plain)) {
      name = plain;
    } else if (place < all.size()) {
      name = all[place].name.str();
    } else {
      throw Error(fmt::format("the batch has no label: its only field is '{}'", all[0].name.str()),
                  "add a field with the labels to the dataset, such as 'label'");
    }
  };
  pick(fields.input, "image", "x", 0);
  if (with_label) pick(fields.target, "label", "y", 1);
  return fields;
}

Sample Model::Impl::sample_of(const Batch& batch, const FieldNames& fields, int64_t step) const {
  check_batched(batch, fields);
  const Shape& output = plan.back().output;
  if (compiled->loss.kind == Loss::Kind::kSparseCategoricalCrossentropy && output.rank() > 0) {
    check_labels(batch, fields.target, output[output.rank() - 1], step);
  }
  Sample sample;
  sample.x = upload(to_torch(batch[fields.input]), device);
  sample.y = upload(to_torch(batch[fields.target]), device);
  if (const Tensor* weights = batch.find(fields.sample_weight)) {
    sample.weights = upload(to_torch(*weights), device);
  }
  return sample;
}

History Model::fit(const Dataset& dataset, FitOptions options) {
  Impl& m = *impl_;
  const CompileOptions& compiled = m.compiled_options("fit");
  const bool chosen = !options.threads.intra_op;
  options.threads = apply_threads(options.threads, !m.device.is_cpu());
  prepare_device(m.device_name);
  at::manual_seed(options.seed);
  TrainingView view(options.show);
  std::vector<MetricState> metrics = metric_states(compiled);
  ForwardPass forward(m, options, metrics);
  LoopSpec spec;
  spec.optimizer = compiled.optimizer;
  spec.device = m.device;
  spec.products =
      m.options.precision == Precision::kBFloat16 ? ProductType::kBFloat16 : ProductType::kFloat32;
  spec.threads_chosen = chosen;
  spec.metrics = &metrics;
  spec.build = [&](const Batch& batch) {
    m.build_for(batch, options.fields);
    forward.prepare(batch);
    return m.network->weights();
  };
  spec.description = [&] { return m.describe(); };
  spec.forward_to_loss = [&](Batch& batch, StepCounters& counters, LayerObserver* observer) {
    return forward.run(batch, counters, observer);
  };
  spec.layers = [&] { return &m.network->plan(); };
  spec.nonfinite_origin = [&](const Batch& batch) { return forward.nonfinite_origin(batch); };
  if (options.validation) {
    spec.validate = [&] {
      return m.evaluate(*options.validation,
                        {.steps = options.validation_steps, .fields = options.fields});
    };
  }
  return TrainingLoop(std::move(spec), options, view, dataset).run();
}

History Model::fit(const Tensor& x, const Tensor& y, FitOptions options) {
  Dataset rows = dataset_of(x, y).with_seed(options.seed);
  if (options.shuffle) rows = rows.shuffle();
  return fit(rows.batch(options.batch_size), options);
}

Logs Model::Impl::evaluate(const Dataset& dataset, const EvaluateOptions& wanted) {
  if (wanted.steps && *wanted.steps < 1)
    throw Error(fmt::format("evaluate: steps is {}, but must be 1 or more", *wanted.steps),
                "set .steps in the options of evaluate, or leave it out for all of the dataset");
  const int64_t length = dataset.cardinality();
  if (length == kInfinite && !wanted.steps) {
    throw Error("the dataset to evaluate on never ends",
                "set .steps in the options of evaluate, or remove .repeat() from the dataset");
  }
  std::vector<MetricState> metrics = metric_states(*compiled);
  const c10::NoGradGuard guard;
  double count = 0;
  at::Tensor total;
  std::optional<FieldNames> fields;
  Pipeline pipeline = dataset.start();
  for (int64_t step = 0; !wanted.steps || step < *wanted.steps; ++step) {
    const auto batch = pipeline.next();
    if (!batch) break;
    if (!fields) {
      build_for(*batch, wanted.fields);
      fields = resolve_fields(wanted.fields, *batch, true);
    }
    const Sample sample = sample_of(*batch, *fields, step + 1);
    const Activation last = network->last_activation();
    const bool logits = wants_logits(compiled->loss, last);
    const Activation missing = logits ? last : Activation();
    const PrecisionGuard precision(options.precision, device);
    const at::Tensor output = network->forward(sample.x, false, logits);
    const at::Tensor loss =
        compute_loss(compiled->loss, sample.y, output, missing, sample.weights).to(at::kDouble);
    const auto rows = double(sample.x.size(0));
    total = total.defined() ? total + loss * rows : loss * rows;
    count += rows;
    for (MetricState& m : metrics) m.update(sample.y, output, missing, sample.weights);
  }
  if (count == 0) throw Error("the dataset to evaluate on is empty", kCheckEmpty);
  Logs logs;
  const at::Tensor penalty = network->regularization();
  logs.set("loss",
           total.item<double>() / count + (penalty.defined() ? penalty.item<double>() : 0.0));
  for (const MetricState& m : metrics) logs.set(m.name(), m.value());
  return logs;
}

Logs Model::evaluate(const Dataset& dataset, EvaluateOptions options) {
  impl_->compiled_options("evaluate");
  return impl_->evaluate(dataset, options);
}

Logs Model::evaluate(const Tensor& x, const Tensor& y, EvaluateOptions options) {
  return evaluate(dataset_of(x, y).batch(options.batch_size), options);
}

Tensor Model::predict(const Dataset& dataset, EvaluateOptions options) {
  Impl& m = *impl_;
  if (dataset.cardinality() == kInfinite && !options.steps) {
    throw Error("the dataset to predict from never ends",
                "set .steps in the options of predict, or remove .repeat() from the dataset");
  }
  const c10::NoGradGuard guard;
  std::vector<at::Tensor> outputs;
  FieldNames fields;
  Pipeline pipeline = dataset.start();
  for (int64_t step = 0; !options.steps || step < *options.steps; ++step) {
    const auto batch = pipeline.next();
    if (!batch) break;
    if (outputs.empty()) {
      m.build_for(*batch, options.fields);
      fields = resolve_fields(options.fields, *batch, false);
    }
    const PrecisionGuard precision(m.options.precision, m.device);
    const at::Tensor x = upload(to_torch((*batch)[fields.input]), m.device);
    outputs.push_back(m.network->forward(x, false).to(at::kCPU));
  }
  if (outputs.empty()) throw Error("the dataset to predict from is empty", kCheckEmpty);
  return from_torch(at::cat(outputs).to(torch_type(m.options.dtype)));
}

Tensor Model::predict(const Tensor& x, EvaluateOptions options) {
  return predict(from_tensor_slices({{"x", x}}).batch(options.batch_size), options);
}

}  // namespace headway
