#include "headway/train/torch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <set>

#include "headway/core/error.h"
#include "headway/train/device/device.h"
#include "headway/train/device/threads.h"
#include "headway/train/layers/axes.h"
#include "headway/train/layers/shapes.h"
#include "headway/train/loop/training_loop.h"
#include "headway/train/model/model_impl.h"

namespace headway {
namespace {

class ModuleNode : public LayerNode {
 public:
  ModuleNode(std::shared_ptr<torch::nn::Module> module,
             std::function<torch::Tensor(const torch::Tensor&)> forward, Shape output)
      : module_(std::move(module)), forward_(std::move(forward)), output_(output) {}

  std::string kind() const override { return "Module"; }

  // Found with one sample of zeros.
  Shape output_shape(const Shape& input) const override {
    if (output_.rank() > 0) return output_;
    for (const int64_t size : input) {
      if (size == kAny)
        throw Error(
            "the shape of a module's output cannot be found, because a size of its input "
            "is not known (kAny)",
            "set .output of module_layer to the shape that the module gives for one "
            "sample");
    }
    const torch::NoGradGuard guard;
    const bool was_training = module_->is_training();
    module_->eval();
    const Shape batch = input.with_outer(1);
    const auto parameters = module_->parameters();
    const auto options = parameters.empty() ? torch::TensorOptions() : parameters[0].options();
    const auto zeros =
        torch::zeros(at::IntArrayRef(batch.begin(), batch.rank()), options.requires_grad(false));
    const torch::Tensor out = channels_last(forward_(channels_first(zeros)));
    module_->train(was_training);
    return shape_of(out).without_outer();
  }

  std::vector<WeightSpec> weights(const Shape&) const override {
    std::vector<WeightSpec> all;
    const auto add = [&](const std::string& name, const torch::Tensor& value, bool trainable) {
      all.push_back({.name = name,
                     .shape = shape_of(value),
                     .trainable = trainable,
                     .existing = std::make_shared<at::Tensor>(value)});
    };
    for (const auto& p : module_->named_parameters()) add(p.key(), p.value(), p->requires_grad());
    for (const auto& b : module_->named_buffers()) add(b.key(), b.value(), false);
    return all;
  }

  at::Tensor forward(const at::Tensor& x, std::span<const at::Tensor>,
                     const Mode& mode) const override {
    if (module_->is_training() != mode.training) module_->train(mode.training);
    return forward_(x);
  }

 private:
  std::shared_ptr<torch::nn::Module> module_;
  std::function<torch::Tensor(const torch::Tensor&)> forward_;
  Shape output_;
};

std::vector<NamedWeight> weights_of(const LoopOptions& options) {
  std::vector<NamedWeight> weights;
  if (options.model) {
    const auto& all = options.model->impl().built_network().weights();
    weights.insert(weights.end(), all.begin(), all.end());
  }
  if (options.module) {
    for (const auto& p : options.module->named_parameters()) {
      weights.push_back({p.key(), p.value(), p->requires_grad()});
    }
    for (const auto& b : options.module->named_buffers()) {
      weights.push_back({b.key(), b.value(), false});
    }
  }
  for (const auto& [name, value] : options.parameters) {
    weights.push_back({name, value, value.requires_grad()});
  }
  if (weights.empty()) {
    throw Error("loop: no weights to train are given",
                "set .model, .module or .parameters in LoopOptions");
  }
  return weights;
}

// Shapes of the tensors that the loss depends on and that have gradients, but are not in `weights`:
// found by following the graph back to its leaves.
std::string untrained_tensors(const torch::Tensor& loss, const std::vector<NamedWeight>& weights) {
  std::set<const void*> known;
  for (const NamedWeight& w : weights) known.insert(w.value.unsafeGetTensorImpl());
  std::set<torch::autograd::Node*> seen;
  std::vector<torch::autograd::Node*> next{loss.grad_fn().get()};
  std::vector<std::string> found;
  while (!next.empty()) {
    torch::autograd::Node* node = next.back();
    next.pop_back();
    if (!node || !seen.insert(node).second) continue;
    for (const torch::autograd::Edge& edge : node->next_edges())
      next.push_back(edge.function.get());
    const auto* leaf = dynamic_cast<torch::autograd::AccumulateGrad*>(node);
    if (leaf && !known.count(leaf->variable.unsafeGetTensorImpl())) {
      found.push_back(shape_of(leaf->variable).str());
    }
  }
  return fmt::format("{}", fmt::join(found, ", "));
}

std::string describe(const std::vector<NamedWeight>& weights, const Optimizer& optimizer) {
  std::string text = "loop over";
  for (const NamedWeight& w : weights) {
    text += fmt::format(" {} {}", w.name, shape_of(w.value).str());
  }
  return text + "; " + optimizer.describe();
}

}  // namespace

Layer internal::module_layer(std::shared_ptr<torch::nn::Module> module,
                             std::function<torch::Tensor(const torch::Tensor&)> forward,
                             ModuleOptions options) {
  return Layer(std::make_shared<ModuleNode>(std::move(module), std::move(forward), options.output),
               options.name);
}

torch::Tensor call(Model& model, const torch::Tensor& batch, bool training) {
  Model::Impl& m = model.impl();
  if (!m.network) m.build(shape_of(batch).without_outer());
  return m.network->forward(upload(batch, m.device), training);
}

std::vector<torch::Tensor> trainable_variables(Model& model) {
  return trainable(model.impl().built_network().weights());
}

torch::Device torch_device(Model& model) { return model.impl().device; }

History loop(const Dataset& dataset, std::function<torch::Tensor(Batch&)> loss,
             LoopOptions options) {
  if (options.fit.validation) {
    throw Error("loop: .fit.validation is set, but loop() cannot evaluate a dataset",
                "remove .fit.validation; evaluate that dataset in a function of your own, given as "
                ".validate in LoopOptions");
  }
  LoopSpec spec;
  spec.optimizer = options.optimizer;
  spec.validate = options.validate;
  spec.threads_chosen = !options.fit.threads.intra_op;
  std::vector<NamedWeight> weights;
  spec.build = [&](const Batch& batch) {
    if (options.model) options.model->impl().build_for(batch, options.fit.fields);
    return weights = weights_of(options);
  };
  spec.description = [&] { return describe(weights, options.optimizer); };
  std::string untrained;
  bool first = true;
  spec.forward_to_loss = [&](Batch& batch, StepCounters& counters, LayerObserver*) {
    const torch::Tensor value = loss(batch);
    if (std::exchange(first, false)) untrained = untrained_tensors(value, weights);
    counters.mark(StepPhase::kForward);
    return value;
  };
  spec.untrained = [&] { return untrained; };
  if (options.model) {
    spec.device = options.model->impl().device;
  } else if (options.module && !options.module->parameters().empty()) {
    spec.device = options.module->parameters()[0].device();
  } else if (!options.parameters.empty()) {
    spec.device = options.parameters[0].second.device();
  }
  options.fit.threads = apply_threads(options.fit.threads, !spec.device.is_cpu());
  prepare_device(spec.device.is_cpu() ? "cpu" : spec.device.str());
  torch::manual_seed(options.fit.seed);
  TrainingView view(options.fit.show);
  return TrainingLoop(std::move(spec), options.fit, view, dataset).run();
}

}  // namespace headway
