// TrainingLoop's memory: what a checkpoint holds, and how a run goes on from it.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <tuple>

#include "headway/core/clock.h"
#include "headway/core/error.h"
#include "headway/train/device/tensor_bridge.h"
#include "headway/train/device/threads.h"
#include "headway/train/loop/training_loop.h"

namespace headway {
namespace {

constexpr const char* kStateKey = "headway.training";

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

void restore_generators(const Safetensors& content, c10::Device device) {
  for (auto& [name, generator] : random_generators(device)) {
    const Tensor* saved = content.find(name);
    if (!saved) continue;
    try {
      generator.set_state(to_torch(*saved));
    } catch (const c10::Error&) {  // its text is a page long
      throw Error(fmt::format("'{}' is no state of a random generator", name));
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

SavedTraining TrainingLoop::saved() const {
  SavedTraining saved{
      .description = spec_.description(),
      .epoch = epoch_,
      .step = step_,
      .step_in_epoch = step_in_epoch_,
      .accumulated = accumulated_,
      .iterations = optimizer_->iterations(),
      .learning_rate_scale = optimizer_->scale(),
      .loss = {loss_total_, loss_count_},
      .metrics = {},
      .stopped_by = interrupted_ ? "" : stopping_,
      .callbacks = {},
      .history = history_.epochs,
      .threads = {options_.threads.intra_op.value_or(0), options_.threads.inter_op.value_or(0),
                  options_.threads.input.value_or(0)},
      .pipeline = {}};
  if (first_batch_) {
    if (start_position_) saved.pipeline = start_position_->text;
  } else if (pipeline_) {
    saved.pipeline = pipeline_->save().text;
  }
  if (spec_.metrics) {
    for (const MetricState& m : *spec_.metrics) {
      const auto sums = m.sums();
      saved.metrics.emplace_back(sums.total, sums.count);
    }
  }
  for (const CallbackPtr& c : options_.callbacks) saved.callbacks[c->name()] = c->save();
  return saved;
}

void TrainingLoop::write_checkpoint() {
  if (!checkpoints_ || poisoned_ || step_ == last_checkpoint_step_) return;
  settle_losses();
  recorder_->enter(RunPhase::kCheckpoint);
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
  content.metadata[kStateKey] = text_of(saved());
  if (const auto problem = checkpoints_->write(step_, content)) {
    recorder_->note(NoteKind::kCheckpointFailed, *problem);
    warn(*problem);
  }
  last_checkpoint_step_ = step_;
  last_checkpoint_ns_ = now_ns();
  counters_.mark(StepPhase::kCheckpoint);
}

void TrainingLoop::checkpoint_if_due() {
  const CheckpointOptions& c = options_.checkpoint;
  if (!checkpoints_ || step_in_epoch_ == steps_) return;  // the end of the epoch writes one
  const bool by_step = c.every_steps && step_ % *c.every_steps == 0;
  const bool by_time = c.every_s && double(now_ns() - last_checkpoint_ns_) > 1e9 * *c.every_s;
  if (by_step || by_time) write_checkpoint();
}

void TrainingLoop::find_checkpoint() {
  if (!checkpoints_) throw Error("resume without a checkpoint folder", "name the folder");
  std::vector<std::string> complaints;
  found_ = checkpoints_->newest(complaints);
  for (const std::string& text : complaints) warn(text);
}

// What the checkpoint says of itself, with its name in front of every complaint.
SavedTraining TrainingLoop::read_saved() const {
  const auto text = found_->content.metadata.find(kStateKey);
  if (text == found_->content.metadata.end()) {
    throw Error(found_->path + ": holds weights, but no training to go on with",
                "name another folder, or begin anew");
  }
  try {
    return parse_saved_training(text->second);
  } catch (const Error& e) {
    throw Error(fmt::format("{}: its state cannot be read: {}", found_->path, e.problem()),
                e.hint().empty() ? "it is damaged: name another folder" : e.hint());
  }
}

std::optional<PipelineState> TrainingLoop::restore_position() {
  saved_ = read_saved();
  epoch_ = saved_->epoch;
  step_ = last_checkpoint_step_ = saved_->step;
  step_in_epoch_ = saved_->step_in_epoch;
  accumulated_ = saved_->accumulated;
  std::tie(loss_total_, loss_count_) = saved_->loss;
  stopping_ = saved_->stopped_by;
  history_.epochs = saved_->history;
  for (const CallbackPtr& c : options_.callbacks) {
    const auto own = saved_->callbacks.find(c->name());
    if (own != saved_->callbacks.end()) c->restore(own->second);
  }
  if (spec_.threads_chosen) {  // another number would round sums differently
    options_.threads = apply_threads(
        {.intra_op = saved_->threads[0], .input = options_.threads.input}, !spec_.device.is_cpu());
  }
  if (!saved_->pipeline) return std::nullopt;
  return PipelineState{*saved_->pipeline};
}

void TrainingLoop::restore_weights() try {
  const Safetensors& content = found_->content;
  if (saved_->description != spec_.description()) {
    throw Error(fmt::format("was written by another training\n  there  {}\n  here   {}",
                            saved_->description, spec_.description()));
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
  restore_generators(content, spec_.device);
  optimizer_->restore(saved_->iterations, saved_->learning_rate_scale);
  const size_t metrics = spec_.metrics ? spec_.metrics->size() : 0;
  if (saved_->metrics.size() < metrics) {
    throw Error(fmt::format("holds {} metrics, {} are wanted", saved_->metrics.size(), metrics));
  }
  for (size_t i = 0; i < metrics; ++i) {
    (*spec_.metrics)[i].restore({saved_->metrics[i].first, saved_->metrics[i].second});
  }
  view_.say(fmt::format("resumed behind step {} ({})", step_, found_->path));
  found_.reset();
  saved_.reset();
} catch (const Error& e) {
  throw Error(found_->path + ": " + e.problem(),
              e.hint().empty() ? "resume with the program that wrote it, or name another folder"
                               : e.hint());
}

}  // namespace headway
