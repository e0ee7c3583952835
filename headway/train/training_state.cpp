// TrainingLoop's memory: what a checkpoint holds, and how a run goes on from it.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <bit>
#include <nlohmann/json.hpp>

#include "headway/core/clock.h"
#include "headway/core/error.h"
#include "headway/train/tensor_bridge.h"
#include "headway/train/threads.h"
#include "headway/train/training_loop.h"

namespace headway {
namespace {

using nlohmann::json;

constexpr const char* kStateKey = "headway.training";

// Doubles bit for bit: JSON has no NaN.
int64_t bits(double value) { return std::bit_cast<int64_t>(value); }
double from_bits(const json& value) { return std::bit_cast<double>(value.get<int64_t>()); }

json json_of(const Logs& logs) {
  json out = json::array();
  for (const auto& [name, value] : logs) out.push_back({name, bits(value)});
  return out;
}

Logs logs_of(const json& in) {
  Logs logs;
  for (const json& entry : in) logs.set(entry[0].get<std::string>(), from_bits(entry[1]));
  return logs;
}

// "3.m" -> "optimizer/dense.weight/m"
std::string slot_name(const std::vector<NamedWeight>& weights, const std::string& slot) {
  const size_t dot = slot.find('.');
  size_t index = std::stoul(slot.substr(0, dot));
  for (const NamedWeight& w : weights) {
    if (!w.trainable) continue;
    if (index-- == 0) return fmt::format("optimizer/{}/{}", w.name, slot.substr(dot + 1));
  }
  throw Error("optimizer slot without a weight: " + slot);
}

void copy_into(at::Tensor to, const Safetensors& content, const std::string& name) {
  const Tensor* from = content.find(name);
  if (!from) throw Error(fmt::format("the checkpoint has no '{}'", name));
  const at::Tensor value = to_torch(*from);
  if (value.sizes() != to.sizes()) {
    throw Error(fmt::format("'{}' is {} in the checkpoint, {} here", name, from->shape().str(),
                            shape_of(to).str()));
  }
  const c10::NoGradGuard guard;
  to.copy_(value);
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

nlohmann::json TrainingLoop::state_json() const {
  json position;
  if (first_batch_) {
    if (start_position_) position = start_position_->text;
  } else if (pipeline_) {
    position = pipeline_->save().text;
  }
  json metrics = json::array();
  if (spec_.metrics) {
    for (const MetricState& m : *spec_.metrics) {
      const auto sums = m.sums();
      metrics.push_back({bits(sums.total), bits(sums.count)});
    }
  }
  json callbacks = json::object();
  for (const CallbackPtr& c : options_.callbacks) callbacks[c->name()] = c->save();
  json history = json::array();
  for (const Logs& logs : history_.epochs) history.push_back(json_of(logs));
  return {
      {"version", 1},
      {"description", spec_.description()},
      {"epoch", epoch_},
      {"step", step_},
      {"step_in_epoch", step_in_epoch_},
      {"accumulated", accumulated_},
      {"iterations", optimizer_->iterations()},
      {"learning_rate_scale", bits(optimizer_->scale())},
      {"loss", {bits(loss_total_), bits(loss_count_)}},
      {"metrics", metrics},
      {"stopped_by", interrupted_ ? "" : stopping_},
      {"callbacks", callbacks},
      {"history", history},
      {"threads", {options_.threads.intra_op, options_.threads.inter_op, options_.threads.input}},
      {"pipeline", position}};
}

void TrainingLoop::write_checkpoint() {
  if (!checkpoints_ || poisoned_ || step_ == last_checkpoint_step_) return;
  settle_losses();
  recorder_->enter("checkpoint");
  Safetensors content;
  const auto add = [&](const std::string& name, const at::Tensor& value) {
    content.tensors.emplace_back(name, from_torch(value));
  };
  size_t i = 0;
  for (const NamedWeight& w : weights_) {
    add(w.name, w.value);
    if (!remembered_.empty()) add("remembered/" + w.name, remembered_[i++]);
    if (accumulated_ > 0 && w.value.grad().defined()) add("gradient/" + w.name, w.value.grad());
  }
  for (const auto& [slot, value] : optimizer_->slots()) add(slot_name(weights_, slot), value);
  for (const auto& [name, generator] : random_generators(spec_.device))
    add(name, generator.get_state());
  content.metadata[kStateKey] = state_json().dump();
  if (const auto problem = checkpoints_->write(step_, content)) {
    recorder_->note("checkpoint-failed", *problem);
    warn(*problem);
  }
  last_checkpoint_step_ = step_;
  last_checkpoint_ns_ = now_ns();
  counters_.mark(StepPhase::kCheckpoint);
}

void TrainingLoop::checkpoint_if_due() {
  const CheckpointOptions& c = options_.checkpoint;
  if (!checkpoints_ || step_in_epoch_ == steps_) return;  // the end of the epoch writes one
  const bool by_step = c.every_steps > 0 && step_ % c.every_steps == 0;
  const bool by_time = c.every_s > 0 && double(now_ns() - last_checkpoint_ns_) > 1e9 * c.every_s;
  if (by_step || by_time) write_checkpoint();
}

void TrainingLoop::find_checkpoint() {
  if (!checkpoints_) throw Error("resume without a checkpoint folder", "name the folder");
  std::vector<std::string> complaints;
  found_ = checkpoints_->newest(complaints);
  for (const std::string& text : complaints) warn(text);
}

std::optional<PipelineState> TrainingLoop::restore_position() try {
  const auto text = found_->content.metadata.find(kStateKey);
  if (text == found_->content.metadata.end()) {
    throw Error("holds weights, but no training to go on with");
  }
  const json state = json::parse(text->second);
  epoch_ = state.at("epoch");
  step_ = last_checkpoint_step_ = state.at("step");
  step_in_epoch_ = state.at("step_in_epoch");
  accumulated_ = state.at("accumulated");
  loss_total_ = from_bits(state.at("loss")[0]);
  loss_count_ = from_bits(state.at("loss")[1]);
  stopping_ = state.at("stopped_by");
  for (const json& logs : state.at("history")) history_.epochs.push_back(logs_of(logs));
  for (const CallbackPtr& c : options_.callbacks) {
    if (state.at("callbacks").contains(c->name())) {
      c->restore(state.at("callbacks").at(c->name()).get<std::string>());
    }
  }
  if (spec_.threads_chosen) {  // another number would round sums differently
    const json& threads = state.at("threads");
    options_.threads = apply_threads({.intra_op = threads[0], .input = options_.threads.input},
                                     !spec_.device.is_cpu());
  }
  if (state.at("pipeline").is_null()) return std::nullopt;
  return PipelineState{state.at("pipeline").get<std::string>()};
} catch (const json::exception& e) {
  throw Error(fmt::format("{}: its state cannot be read: {}", found_->path, e.what()),
              "it was written by another version: name another folder");
}

void TrainingLoop::restore_weights() try {
  const Safetensors& content = found_->content;
  const json state = json::parse(content.metadata.at(kStateKey));
  if (state.at("description") != spec_.description()) {
    throw Error(fmt::format("was written by another training\n  there  {}\n  here   {}",
                            state.at("description").get<std::string>(), spec_.description()));
  }
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
  for (const auto& [slot, value] : optimizer_->slots()) {
    copy_into(value, content, slot_name(weights_, slot));
  }
  for (auto& [name, generator] : random_generators(spec_.device)) {
    if (const Tensor* saved = content.find(name)) generator.set_state(to_torch(*saved));
  }
  optimizer_->restore(state.at("iterations"), from_bits(state.at("learning_rate_scale")));
  const json& metrics = state.at("metrics");
  for (size_t i = 0; spec_.metrics && i < spec_.metrics->size(); ++i) {
    (*spec_.metrics)[i].restore({from_bits(metrics.at(i)[0]), from_bits(metrics.at(i)[1])});
  }
  view_.say(fmt::format("resumed behind step {} ({})", step_, found_->path));
  found_.reset();
} catch (const Error& e) {
  throw Error(found_->path + ": " + e.problem(),
              e.hint().empty() ? "resume with the program that wrote it, or name another folder"
                               : e.hint());
}

}  // namespace headway
