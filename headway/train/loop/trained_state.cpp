#include "headway/train/loop/trained_state.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include "headway/core/error.h"
#include "headway/train/device/tensor_bridge.h"

namespace headway {
namespace {

constexpr const char* kOfAnotherModel =
    "the checkpoint is of another model: give another checkpoint folder, or build the same model";

// "3.m" -> "optimizer/dense.weight/m"
std::string slot_name(const std::vector<NamedWeight>& weights, const std::string& slot) {
  const size_t dot = slot.find('.');
  size_t index = std::stoul(slot.substr(0, dot));
  for (const NamedWeight& w : weights) {
    if (!w.trainable) continue;
    if (index-- == 0) return fmt::format("optimizer/{}/{}", w.name, slot.substr(dot + 1));
  }
  throw Error(
      "the checkpoint has optimizer state for a weight that this model does not have: " + slot,
      kOfAnotherModel);
}

void copy_into(at::Tensor to, const Safetensors& content, const std::string& name) {
  const Tensor* from = content.find(name);
  if (!from) throw Error(fmt::format("the checkpoint does not hold '{}'", name), kOfAnotherModel);
  const at::Tensor value = to_torch(*from);
  if (value.sizes() != to.sizes()) {
    throw Error(fmt::format("'{}' has shape {} in the checkpoint, but {} in this training", name,
                            from->shape().str(), shape_of(to).str()),
                kOfAnotherModel);
  }
  const c10::NoGradGuard guard;
  to.copy_(value);
}

void restore_generators(const Safetensors& content, c10::Device device) {
  for (auto& [name, generator] : random_generators(device)) {
    const Tensor* saved = content.find(name);
    if (!saved) continue;
    try {
      generator.set_state(to_torch(*saved));
    } catch (const c10::Error&) {  // its text is a page long
      throw Error(
          fmt::format("'{}' in the checkpoint is not the state of a random generator", name),
          "the checkpoint is damaged: delete it to resume from an older one");
    }
  }
}

}  // namespace

std::vector<std::pair<std::string, at::Generator>> random_generators(c10::Device device) {
  std::vector<std::pair<std::string, at::Generator>> all;
  all.emplace_back("rng/cpu", at::globalContext().defaultGenerator(at::kCPU));
  if (!device.is_cpu()) {
    all.emplace_back("rng/" + device.str(), at::globalContext().defaultGenerator(device));
  }
  return all;
}

TrainedState::TrainedState(std::vector<NamedWeight> weights, const Optimizer& optimizer,
                           c10::Device device)
    : weights_(std::move(weights)), optimizer_(optimizer, trainable(weights_)), device_(device) {}

int64_t TrainedState::parameter_count() const {
  int64_t count = 0;
  for (const NamedWeight& w : weights_) count += w.trainable ? w.value.numel() : 0;
  return count;
}

void TrainedState::remember_weights() {
  remembered_.clear();
  for (const NamedWeight& w : weights_) remembered_.push_back(w.value.detach().clone());
}

bool TrainedState::recall_weights() {
  if (remembered_.empty()) return false;
  const c10::NoGradGuard guard;
  for (size_t i = 0; i < remembered_.size(); ++i) {
    at::Tensor value = weights_[i].value;
    value.copy_(remembered_[i]);
  }
  return true;
}

void TrainedState::save(SavedTraining& saved, Safetensors& content) const {
  saved.iterations = optimizer_.iterations();
  saved.learning_rate_scale = optimizer_.scale();
  const auto add = [&](const std::string& name, const at::Tensor& value) {
    content.tensors.emplace_back(name, from_torch(value));
  };
  size_t i = 0;
  for (const NamedWeight& w : weights_) {
    add(w.name, w.value);
    if (!remembered_.empty()) add("remembered/" + w.name, remembered_[i++]);
    if (saved.accumulated > 0 && w.value.grad().defined()) {
      add("gradient/" + w.name, w.value.grad());
    }
  }
  for (const auto& [slot, value] : optimizer_.slots()) add(slot_name(weights_, slot), value);
  for (const auto& [name, generator] : random_generators(device_)) add(name, generator.get_state());
}

void TrainedState::restore(const SavedTraining& saved, const Safetensors& content) {
  for (const NamedWeight& w : weights_) {
    copy_into(w.value, content, w.name);
    if (content.find("remembered/" + w.name)) {
      remembered_.push_back(at::empty_like(w.value.detach()));
      copy_into(remembered_.back(), content, "remembered/" + w.name);
    }
    if (content.find("gradient/" + w.name)) {
      at::Tensor value = w.value;
      value.mutable_grad() = at::empty_like(w.value.detach());
      copy_into(value.mutable_grad(), content, "gradient/" + w.name);
    }
  }
  for (const auto& [slot, value] : optimizer_.slots()) {
    copy_into(value, content, slot_name(weights_, slot));
  }
  restore_generators(content, device_);
  optimizer_.restore(saved.iterations, saved.learning_rate_scale);
}

}  // namespace headway
