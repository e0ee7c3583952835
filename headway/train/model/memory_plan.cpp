#include "headway/train/model/memory_plan.h"

#include <fmt/format.h>

#include "headway/core/error.h"
#include "headway/core/text.h"
#include "headway/train/layers/chain.h"

namespace headway {
namespace {

// "(None, 62, 62, 32)", as Keras writes it.
std::string keras_shape(const Shape& shape) {
  std::string text = "(None";
  for (const int64_t d : shape) text += d < 0 ? ", None" : fmt::format(", {}", d);
  return text + ")";
}

}  // namespace

MemoryPlan plan_memory(const std::vector<LayerPlan>& layers, const Optimizer* optimizer,
                       int64_t value_bytes, int64_t batch_size) {
  MemoryPlan plan;
  double kept = 0;
  for (const LayerPlan& l : layers) {
    const int64_t trainable = l.weight_count(true);
    plan.trainable += trainable;
    plan.parameters += trainable + l.weight_count(false);
    kept += values_in(l.output) * l.layer.node().kept_outputs();
  }
  plan.weights_bytes = plan.parameters * value_bytes;
  if (optimizer) {
    plan.gradients_bytes = plan.trainable * value_bytes;
    plan.optimizer_bytes = plan.trainable * optimizer->slots() * value_bytes;
  }
  plan.activations_bytes = static_cast<int64_t>(kept) * batch_size * value_bytes;
  return plan;
}

void refuse_too_large(const std::string& model, const MemoryPlan& plan, const std::string& device,
                      int64_t free_bytes) {
  if (plan.state_bytes() <= free_bytes) return;
  std::string sum = fmt::format("{} parameters take {} of weights", count_text(plan.parameters),
                                size_text(double(plan.weights_bytes)));
  if (plan.gradients_bytes > 0) {
    sum += fmt::format(" + {} of gradients", size_text(double(plan.gradients_bytes)));
  }
  if (plan.optimizer_bytes > 0) {
    sum += fmt::format(" + {} of optimizer", size_text(double(plan.optimizer_bytes)));
  }
  throw Error(
      fmt::format("{} does not fit into memory: it needs {} = {}, but {} has only {} free", model,
                  sum, size_text(double(plan.state_bytes())), device,
                  size_text(double(free_bytes))),
      "make its widest layers narrower, or use SGD without momentum, which needs no memory per "
      "parameter",
      "model-too-large");
}

std::string summary_table(const std::string& model, const std::vector<LayerPlan>& layers,
                          const MemoryPlan& memory, const std::string& optimizer,
                          int64_t batch_size) {
  constexpr int kName = 34, kShape = 26, kCount = 16;
  const std::string rule(kName + kShape + kCount, '-');
  std::string text = fmt::format("Model: \"{}\"\n{}\n", model, rule);
  const auto row = [&](const std::string& name, const std::string& shape, const std::string& n) {
    text += fmt::format("{:<{}}{:<{}}{:>{}}\n", name, kName, shape, kShape, n, kCount);
  };
  row("Layer (type)", "Output Shape", "Param #");
  text += rule + "\n";
  for (const LayerPlan& l : layers) {
    row(fmt::format("{} ({})", l.layer.name(), l.layer.node().kind()), keras_shape(l.output),
        with_commas(l.weight_count(true) + l.weight_count(false)));
  }
  text += rule + "\n";
  text += fmt::format("Total params: {} ({})\n", with_commas(memory.parameters),
                      size_text(double(memory.weights_bytes)));
  text +=
      fmt::format("Trainable params: {}\nNon-trainable params: {}\n", with_commas(memory.trainable),
                  with_commas(memory.parameters - memory.trainable));
  text += fmt::format(
      "Memory: weights {}, gradients {}, optimizer {} ({}), activations {} at "
      "batch {}\n",
      size_text(double(memory.weights_bytes)), size_text(double(memory.gradients_bytes)),
      size_text(double(memory.optimizer_bytes)), optimizer,
      size_text(double(memory.activations_bytes)), batch_size);
  return text;
}

}  // namespace headway
