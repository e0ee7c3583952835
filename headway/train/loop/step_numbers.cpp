#include "headway/train/loop/step_numbers.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "headway/core/clock.h"

namespace headway {
namespace {

// After a step on which time t was spent, none is measured for t / kShare.
constexpr double kShare = 0.0025;
constexpr int64_t kFirstSteps = 3;  // are all measured: a run may be short
constexpr int64_t kLeastWaitNs = 100'000'000;
constexpr int64_t kMostValues = 1 << 16;  // of a weight
constexpr int64_t kMostOutputs = 1 << 20;

// Every n-th value in memory order, whatever the shape. A view.
at::Tensor some_of(const at::Tensor& t, int64_t count) {
  const at::Tensor plain = t.detach();
  const int64_t values = plain.numel();
  if (values <= count || !plain.is_non_overlapping_and_dense()) return plain;
  const int64_t stride = (values / count) | 1;  // odd: not always the same column
  return plain.as_strided({(values - 1) / stride + 1}, {stride}, plain.storage_offset());
}

at::Tensor mean_square(const at::Tensor& t) {
  return t.is_complex() ? at::zeros({}) : t.to(at::kFloat).square().mean();
}

// Four digits are enough, and keep a trace short.
double short_number(double value) {
  if (!std::isfinite(value)) return std::numeric_limits<double>::quiet_NaN();
  if (value == 0) return 0;
  const double scale = std::pow(10, 3 - std::floor(std::log10(std::abs(value))));
  return std::isfinite(scale) ? std::round(value * scale) / scale : value;
}

// One transfer for all; an undefined tensor is -1.
std::vector<double> fetched(const std::vector<at::Tensor>& scalars, bool root) {
  std::vector<double> out(scalars.size(), -1);
  std::vector<at::Tensor> defined;
  for (const at::Tensor& t : scalars)
    if (t.defined()) defined.push_back(t.reshape({}).to(at::kDouble));
  if (defined.empty()) return out;
  const at::Tensor values = at::stack(defined).cpu();
  const double* value = values.data_ptr<double>();
  for (size_t i = 0; i < scalars.size(); ++i) {
    if (!scalars[i].defined()) continue;
    out[i] = short_number(root ? std::sqrt(*value) : *value);
    ++value;
  }
  return out;
}

// Units are on the first axis of libtorch's kernels. Equal units get equal gradients and stay
// equal.
bool units_are_identical(const at::Tensor& kernel) {
  if (kernel.size(0) < 2) return false;
  const at::Tensor some = kernel.detach().narrow(0, 0, std::min<int64_t>(kernel.size(0), 64));
  const at::Tensor rows = some.flatten(1);
  return rows.eq(rows.narrow(0, 0, 1)).all().item<bool>();
}

bool normalises(const std::string& kind) {
  return kind == "BatchNormalization" || kind == "LayerNormalization" || kind == "Normalization";
}

// Share of channels (images) or features that are 0 or less everywhere in the batch.
at::Tensor dead_share(const at::Tensor& out) {
  const int64_t per_sample = std::max<int64_t>(1, out.numel() / std::max<int64_t>(1, out.size(0)));
  const int64_t samples = std::clamp<int64_t>(kMostOutputs / per_sample, 1, out.size(0));
  const at::Tensor some = out.detach().narrow(0, 0, samples);
  const int64_t units = some.dim() == 4 ? 1 : some.dim() - 1;
  std::vector<int64_t> others;
  for (int64_t axis = 0; axis < some.dim(); ++axis)
    if (axis != units) others.push_back(axis);
  return some.amax(others).le(0).to(at::kFloat).mean();
}

}  // namespace

StepNumbers::StepNumbers(const std::vector<NamedWeight>& weights,
                         const std::vector<LayerPlan>* layers) {
  for (const NamedWeight& w : weights) {
    if (!w.trainable || w.value.numel() == 0) continue;
    WeightFacts facts{.name = w.name, .values = w.value.numel(), .kernel = w.value.dim() >= 2};
    if (facts.kernel) facts.identical_units = units_are_identical(w.value);
    weights_.push_back({std::move(facts), w.value, {}});
  }
  if (!layers) return;
  bool first = true;
  for (const LayerPlan& layer : *layers) {
    const LayerNode& node = layer.layer.node();
    Watch watch{
        .name = layer.layer.name(),
        .relu = node.activation() == Activation(Activation::kRelu) && !layer.weights.empty()};
    if (first && !layer.weights.empty()) {
      watch.takes_input = !node.takes_indices() && !normalises(node.kind());
      first = false;
    }
    layers_.push_back(std::move(watch));
  }
}

std::vector<WeightFacts> StepNumbers::weights() const {
  std::vector<WeightFacts> facts;
  for (const Watched& w : weights_) facts.push_back(w.facts);
  return facts;
}

std::vector<std::string> StepNumbers::layers() const {
  std::vector<std::string> names;
  for (const Watch& watch : layers_) names.push_back(watch.name);
  return names;
}

bool StepNumbers::measure(int64_t step) {
  const int64_t now = now_ns();
  measuring_ = measured_ < kFirstSteps || now >= next_ns_;
  if (!measuring_) return false;
  spent_ns_ = 0;
  reading_ = {.step = step};
  gradients_.clear();
  norms_.clear();
  moved_.clear();
  dead_.assign(layers_.size(), {});
  outputs_.assign(layers_.size(), {});
  input_ = at::Tensor();
  return true;
}

void StepNumbers::on_layer(size_t layer, const at::Tensor& in, const at::Tensor& out) {
  if (!measuring_ || layer >= layers_.size()) return;
  const int64_t begun = now_ns();
  const c10::NoGradGuard guard;
  const Watch& watch = layers_[layer];
  if (watch.takes_input && in.is_floating_point()) input_ = some_of(in, kMostValues).to(at::kFloat);
  if (out.is_floating_point() && out.numel() > 1) {
    outputs_[layer] = some_of(out, kMostValues).to(at::kFloat).var();
  }
  if (watch.relu && out.dim() >= 2) dead_[layer] = dead_share(out);
  spent_ns_ += now_ns() - begun;
}

void StepNumbers::before_update() {
  const int64_t begun = now_ns();
  const c10::NoGradGuard guard;
  for (Watched& w : weights_) {
    const at::Tensor& gradient = w.value.grad();
    gradients_.push_back(gradient.defined() && gradient.layout() == at::kStrided
                             ? mean_square(some_of(gradient, kMostValues))
                             : at::Tensor());
    w.before = some_of(w.value, kMostValues).clone();
    norms_.push_back(mean_square(w.before));
  }
  spent_ns_ += now_ns() - begun;
}

NumbersReading StepNumbers::after_update() {
  const int64_t begun = now_ns();
  const c10::NoGradGuard guard;
  for (Watched& w : weights_) {
    moved_.push_back(mean_square(some_of(w.value, kMostValues) - w.before));
    w.before = at::Tensor();
  }
  reading_.gradients = fetched(gradients_, true);
  reading_.weights = fetched(norms_, true);
  reading_.updates = fetched(moved_, true);
  reading_.dead_units = fetched(dead_, false);
  reading_.outputs = fetched(outputs_, true);
  if (input_.defined() && input_.numel() > 1) {
    const std::vector<double> stats = fetched({input_.mean(), input_.std()}, false);
    reading_.input_mean = stats[0];
    reading_.input_std = stats[1];
  }
  input_ = at::Tensor();
  measuring_ = false;
  ++measured_;
  const int64_t now = now_ns();
  spent_ns_ += now - begun;
  next_ns_ = now + std::max(kLeastWaitNs, static_cast<int64_t>(double(spent_ns_) / kShare));
  return std::move(reading_);
}

namespace {

bool finite(const at::Tensor& t) {
  return !t.is_floating_point() || t.isfinite().all().item<bool>();
}

struct FirstNonfinite : LayerObserver {
  size_t layer = std::numeric_limits<size_t>::max();
  bool input = false;
  void on_layer(size_t at, const at::Tensor& in, const at::Tensor& out) override {
    if (layer != std::numeric_limits<size_t>::max()) return;
    if (finite(out)) return;
    layer = at;
    input = !finite(in);
  }
};

}  // namespace

std::vector<std::string> nonfinite_weights(const std::vector<NamedWeight>& weights) {
  std::vector<std::string> names;
  for (const NamedWeight& w : weights)
    if (!finite(w.value.detach())) names.push_back(w.name);
  return names;
}

std::string find_nonfinite_origin(const Network& network, const at::Tensor& batch) {
  const c10::NoGradGuard guard;
  const std::vector<std::string> bad = nonfinite_weights(network.weights());
  if (!bad.empty()) {
    return fmt::format("{} ({} of {} weights are not finite since an update in an earlier step)",
                       bad[0], bad.size(), network.weights().size());
  }
  std::vector<at::Tensor> statistics;  // running means move with every pass
  for (const NamedWeight& w : network.weights())
    statistics.push_back(w.trainable ? at::Tensor() : w.value.detach().clone());
  FirstNonfinite first;
  network.forward(batch, true, true, &first);
  for (size_t i = 0; i < statistics.size(); ++i) {
    at::Tensor value = network.weights()[i].value;
    if (statistics[i].defined()) value.detach().copy_(statistics[i]);
  }
  if (first.layer < network.plan().size()) {
    return fmt::format("the output of {} ({}); its weights and its input are finite",
                       network.plan()[first.layer].layer.name(),
                       network.plan()[first.layer].layer.node().kind());
  }
  return "the loss itself: every layer's output is finite";
}

}  // namespace headway
