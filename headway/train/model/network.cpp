#include "headway/train/model/network.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "headway/core/error.h"
#include "headway/core/random.h"
#include "headway/io/records/safetensors.h"
#include "headway/train/device/tensor_bridge.h"
#include "headway/train/layers/axes.h"
#include "headway/train/layers/shapes.h"

namespace headway {
namespace {

std::string hint_for(const Shape& given, const Shape& wanted) {
  if (given.rank() == 3 && wanted.rank() == 3 && fits({given[1], given[2], given[0]}, wanted))
    return "the batch is channels-first: leave out .layout(Layout::kCHW)";
  if (given.rank() == wanted.rank())
    return "write sizes that differ from batch to batch as Input({kAny, ...})";
  return "add .batch(...) if it is missing, and give samples the shape that the first layer takes";
}

void check_batch(const at::Tensor& batch, const Shape& wanted) {
  if (batch.dim() == 0)
    throw Error("the network needs a batch as its input, but got a single number",
                "add .batch(...) to the dataset");
  const Shape given = shape_of(batch).without_outer();
  if (fits(given, wanted)) return;
  throw Error(
      fmt::format(
          "the network needs samples of shape {}, but the batch holds {} samples of shape {}",
          text(wanted), batch.size(0), text(given)),
      hint_for(given, wanted));
}

at::Tensor penalty(const NamedWeight& weight) {
  const Regularizer& r = weight.regularizer;
  at::Tensor sum;
  if (r.l1 != 0) sum = weight.value.abs().sum() * r.l1;
  if (r.l2 == 0) return sum;
  const at::Tensor squares = weight.value.square().sum() * r.l2;
  return sum.defined() ? sum + squares : squares;
}

at::Tensor drawn(const WeightSpec& spec, at::ScalarType dtype, c10::Device device,
                 uint64_t stream) {
  at::Tensor value = initialize(spec, dtype, stream).to(device);
  // Channels-last, as the images are. Median times of forward and backward pass on two cores,
  // kernels row-major or channels-last: Conv2D(32, 3) on 32 x 64x64x3 takes 13.1 or 12.9 ms; 3x3
  // with 64 channels on 8 x 56x56 takes 36.7 or 36.4 ms, and 43.5 ms with images row-major too.
  if (value.dim() == 4) value = value.contiguous(at::MemoryFormat::ChannelsLast);
  return value.set_requires_grad(spec.trainable);
}

// A module's own tensor: it stays the same object.
at::Tensor moved(at::Tensor value, at::ScalarType dtype, c10::Device device) {
  const at::ScalarType type = value.is_floating_point() ? dtype : value.scalar_type();
  if (value.device() != device || value.scalar_type() != type) {
    value.set_data(value.detach().to(device, type));
  }
  return value;
}

}  // namespace

Network::Network(std::vector<LayerPlan> plan, at::ScalarType dtype, c10::Device device,
                 uint64_t seed)
    : plan_(std::move(plan)), dtype_(dtype) {
  if (plan_.empty()) throw Error("the network has no layers", "add a layer, such as Dense(10)");
  for (const LayerPlan& layer : plan_) {
    first_.push_back(weights_.size());
    for (const WeightSpec& spec : layer.weights) {
      const at::Tensor value = spec.existing
                                   ? moved(*spec.existing, dtype, device)
                                   : drawn(spec, dtype, device, mix(seed, weights_.size()));
      weights_.push_back(
          {layer.layer.name() + "." + spec.name, value, spec.trainable, spec.regularizer});
      values_.push_back(value);
    }
  }
  first_.push_back(weights_.size());
  for (const LayerPlan& layer : plan_) nodes_.push_back(layer.layer.shared_node());
  move_activations();
  logits_layer_ = nodes_.back()->without_activation();
}

// relu before pooling touches four times as much memory as after it, for the same result.
void Network::move_activations() {
  for (size_t i = 0; i + 1 < nodes_.size(); ++i) {
    const Activation activation = nodes_[i]->activation();
    const auto linear = nodes_[i]->without_activation();
    const auto pooled = nodes_[i + 1]->with_activation_behind(activation);
    if (!linear || !pooled) continue;
    nodes_[i] = linear;
    nodes_[i + 1] = pooled;
  }
}

at::Tensor Network::forward(const at::Tensor& batch, bool training, bool logits,
                            LayerObserver* observer) const {
  check_batch(batch, plan_[0].input);
  const bool indices = plan_[0].layer.node().takes_indices();
  at::Tensor x = channels_first(indices ? batch : batch.to(dtype_));
  const Mode mode{.training = training};
  for (size_t i = 0; i < plan_.size(); ++i) {
    const bool cut = logits && logits_layer_ && i + 1 == plan_.size();
    const LayerNode& node = cut ? *logits_layer_ : *nodes_[i];
    const auto weights = std::span(values_).subspan(first_[i], first_[i + 1] - first_[i]);
    at::Tensor out = node.forward(x, weights, mode);
    if (observer) observer->on_layer(i, x, out);
    x = std::move(out);
  }
  return channels_last(x);
}

at::Tensor Network::regularization() const {
  at::Tensor sum;
  for (const NamedWeight& weight : weights_) {
    if (!weight.trainable || !weight.regularizer) continue;
    const at::Tensor one = penalty(weight);
    sum = sum.defined() ? sum + one : one;
  }
  return sum;
}

Activation Network::last_activation() const { return plan_.back().layer.node().activation(); }

std::vector<at::Tensor> trainable(const std::vector<NamedWeight>& weights) {
  std::vector<at::Tensor> values;
  for (const NamedWeight& w : weights)
    if (w.trainable) values.push_back(w.value);
  return values;
}

void write_weights(const std::string& path, const std::vector<NamedWeight>& weights) {
  Safetensors content;
  for (const NamedWeight& w : weights) content.tensors.emplace_back(w.name, from_torch(w.value));
  write_safetensors(path, content);
}

}  // namespace headway
