#include "headway/train/loop/training_loop.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "headway/core/clock.h"
#include "headway/core/error.h"
#include "headway/train/device/device.h"
#include "headway/train/device/tensor_bridge.h"
#include "headway/train/loop/bad_sample.h"

namespace headway {
namespace {

// Losses are fetched from a GPU so many at a time: fetching waits for it.
constexpr size_t kMaxPending = 8;

void check_loss(const at::Tensor& loss) {
  if (!loss.defined() || loss.numel() != 1) {
    throw Error(fmt::format("the loss of a batch is {} numbers, not one",
                            loss.defined() ? loss.numel() : 0),
                "return its mean");
  }
  if (!loss.requires_grad()) {
    throw Error("the loss depends on no weight: its gradient is not linked to any",
                "compute it from the model's output, without detach(), .data or a no-grad guard "
                "in between",
                "gradient-not-connected");
  }
}

}  // namespace

TrainingLoop::TrainingLoop(LoopSpec spec, const FitOptions& options, TrainingView& view)
    : spec_(std::move(spec)), options_(options), view_(view), watching_(options.telemetry) {
  if (options.epochs < 1) throw Error("fit: epochs is less than 1");
  if (options.accumulate < 1) throw Error("fit: accumulate is less than 1");
  if (!options.checkpoint.folder.empty()) checkpoints_.emplace(options.checkpoint);
  std::set<std::string> names;
  for (const CallbackPtr& callback : options.callbacks) {
    batch_callbacks_ = batch_callbacks_ || callback->wants_batches();
    if (!names.insert(callback->name()).second) {
      throw Error(fmt::format("two callbacks are called '{}'", callback->name()),
                  "leave one out, or give yours a name of its own");
    }
  }
}

TrainingLoop::~TrainingLoop() = default;

RunFacts TrainingLoop::facts(const Dataset& dataset) const {
  RunFacts facts = facts_of_feed(dataset);
  facts.program = "headway";
  if (!spec_.device.is_cpu()) facts.device = spec_.device.str();
  facts.compute_threads = options_.threads.intra_op.value_or(0);
  if (options_.threads.input) facts.input_threads = *options_.threads.input;
  facts.products = spec_.products;
  facts.optimizer = spec_.optimizer.describe();
  facts.batch_size = first_batch_ ? samples_in(*first_batch_) : 0;
  facts.steps_per_epoch = steps_;
  facts.epochs = options_.epochs;
  facts.resumed = options_.checkpoint.resume && step_ > 0;
  if (signs_ && !signs_->layers().empty())
    facts.model = fmt::format("{} layers", signs_->layers().size());
  for (const NamedWeight& w : weights_) facts.parameters += w.trainable ? w.value.numel() : 0;
  for (const CallbackPtr& callback : options_.callbacks) {
    facts.callbacks.push_back(callback->name());
  }
  return facts;
}

History TrainingLoop::run(const Dataset& dataset) {
  recorder_.emplace(options_.trace, facts(dataset), counters_, gpu_address(spec_.device.str()),
                    options_.telemetry);
  recorder_->when_quiet(
      [this](const Trace& trace, const std::string& waits) { sound_alarm(trace, waits); });
  if (options_.on_look) recorder_->when_looked(options_.on_look);
  try {
    plan_epochs(dataset);
    return train(dataset);
  } catch (const std::exception& e) {
    const auto* error = dynamic_cast<const Error*>(&e);
    if (error && !error->cause().empty()) {
      recorder_->note({.kind = NoteKind::kCause,
                       .text = error->problem(),
                       .cause = from_text<Cause>(error->cause()).value_or(Cause::kUnknown)});
      if (!error->hint().empty()) recorder_->note(NoteKind::kRemedy, error->hint());
    }
    recorder_->watch(nullptr);
    recorder_->finish(std::string("failed: ") + e.what());
    throw;
  }
}

History TrainingLoop::train(const Dataset& dataset) {
  const int64_t begun = now_ns();
  begin(dataset);
  call_back([this](Callback& callback) { callback.on_train_begin(*this); });
  last_checkpoint_ns_ = begun;
  while (epoch_ < options_.epochs && stopping_.empty()) run_epoch(dataset);
  view_.phases_done();
  recorder_->enter(RunPhase::kFinishing);
  stop_pipeline();
  recorder_->enter(RunPhase::kCallbacks);
  call_back([this](Callback& callback) { callback.on_train_end(*this); });
  history_.steps = step_;
  history_.stopped_by = stopping_;
  history_.times = counters_.times();
  history_.samples = counters_.samples();
  history_.seconds = 1e-9 * double(now_ns() - begun);
  history_.trace = std::make_shared<Trace>(
      recorder_->finish(stopping_.empty() ? "finished" : "stopped: " + stopping_));
  return std::move(history_);
}

// Up to the point where a step could be made.
void TrainingLoop::begin(const Dataset& dataset) {
  if (options_.checkpoint.resume) find_checkpoint();
  if (found_) start_position_ = restore_position();
  view_.phase("first batch");
  recorder_->enter(RunPhase::kFirstBatch);
  counters_.restart();
  try {
    start_pipeline(dataset, start_position_);
  } catch (const Error& e) {
    if (!found_) throw;
    throw Error(found_->path + ": " + e.problem(), e.hint());
  }
  first_batch_ = next_batch();
  if (!first_batch_) {
    throw Error("the dataset gave no batch at all",
                "look at what its filters and its error policy leave", "source-never-yields");
  }
  history_.first_batch_s = counters_.times()[StepPhase::kWaitForData];
  view_.phase("building");
  recorder_->enter(RunPhase::kBuilding);
  weights_ = spec_.build(*first_batch_);
  optimizer_.emplace(spec_.optimizer, trainable(weights_));
  if (found_) restore_weights();
  signs_.emplace(weights_, spec_.layers ? spec_.layers() : nullptr);
  recorder_->facts(facts(dataset));
  recorder_->weights(signs_->weights(), signs_->layers());
  if (options_.replay) replay_first_batch();
  counters_.restart();
}

void TrainingLoop::run_epoch(const Dataset& dataset) {
  if (!pipeline_) start_pipeline(dataset, std::nullopt);
  if (step_in_epoch_ == 0) {
    call_back([this](Callback& callback) { callback.on_epoch_begin(*this); });
    counters_.mark(StepPhase::kCallbacks);
  }
  if (any_step_) view_.epoch_begin(epoch_, options_.epochs, steps_);
  run_steps();
  if (poisoned_ && !stopping_.empty()) return;
  if (stopping_.empty() || (steps_ > 0 && step_in_epoch_ == steps_)) return finish_epoch();
  write_checkpoint();
}

void TrainingLoop::run_steps() {
  while (stopping_.empty() && (steps_ < 0 || step_in_epoch_ < steps_)) {
    if (options_.should_stop && options_.should_stop()) {
      interrupted_ = true;
      return stop("interrupted");
    }
    std::optional<Batch> batch = first_batch_ ? std::exchange(first_batch_, {}) : next_batch();
    if (!stopping_.empty()) return;
    if (!batch) {
      if (steps_ < 0) return;
      throw Error(fmt::format("the dataset ended in step {} of {} of epoch {}", step_in_epoch_ + 1,
                              steps_, epoch_ + 1),
                  "look at what its error policy leaves, add .repeat(), or ask for fewer steps",
                  "wrong-steps-per-epoch");
    }
    const int64_t began = now_ns();
    if (!any_step_) {
      view_.phase("first step");
      recorder_->enter(RunPhase::kFirstStep);
    }
    train_batch(std::move(*batch));
    if (!any_step_) {
      any_step_ = true;
      history_.first_step_s = 1e-9 * double(now_ns() - began);
      warn_of_left_out();
      view_.phases_done();
      view_.epoch_begin(epoch_, options_.epochs, steps_);
    }
    if (!stopping_.empty()) return;
    checkpoint_if_due();
    view_.step(step_in_epoch_, counters_.times(), [this] { return logs(); });
  }
}

void TrainingLoop::train_batch(Batch batch) {
  const int64_t samples = samples_in(batch);
  if (accumulated_ == 0 && watching_) signs_->look_at(step_ + 1);
  const at::Tensor loss = spec_.loss(batch, counters_, signs_->looking() ? &*signs_ : nullptr);
  check_loss(loss);
  const bool on_cpu = spec_.device.is_cpu();
  if (on_cpu) {  // before the weights move
    note_loss(batch, step_ + 1, loss.item<double>(), samples);
    if (!stopping_.empty()) return;
  } else {
    pending_.push_back({loss.detach(), std::move(batch), step_ + 1, samples});
  }
  (options_.accumulate > 1 ? loss / double(options_.accumulate) : loss).backward();
  counters_.mark(StepPhase::kBackward);
  if (++accumulated_ == options_.accumulate) update_weights();
  ++step_;
  ++step_in_epoch_;
  counters_.step_done(samples);
  recorder_->position(epoch_, step_in_epoch_, optimizer_->learning_rate());
  if (pending_.size() >= kMaxPending) settle_losses();
  counters_.mark(StepPhase::kMetrics);
  if (!batch_callbacks_) return;
  recorder_->enter(RunPhase::kCallbacks);
  call_back([&](Callback& callback) {
    if (callback.wants_batches()) callback.on_batch_end(*this, loss.item<double>());
  });
  counters_.mark(StepPhase::kCallbacks);
}

template <typename F>
void TrainingLoop::call_back(F&& call) {
  int64_t begun = now_ns();
  for (size_t i = 0; i < options_.callbacks.size(); ++i) {
    call(*options_.callbacks[i]);
    const int64_t now = now_ns();
    recorder_->callback_time(i, now - begun);
    begun = now;
  }
}

void TrainingLoop::update_weights() {
  if (signs_->looking()) {
    signs_->before_update();
    optimizer_->step();
    recorder_->numbers(signs_->after_update());
  } else {
    optimizer_->step();
  }
  optimizer_->zero_grad();
  accumulated_ = 0;
  counters_.mark(StepPhase::kOptimizer);
}

void TrainingLoop::settle_losses() {
  if (pending_.empty()) return;
  std::vector<at::Tensor> losses;
  for (const Pending& p : pending_) losses.push_back(p.loss.reshape({}).to(at::kDouble));
  const at::Tensor values = at::stack(losses).cpu();
  const std::vector<Pending> settled = std::exchange(pending_, {});
  for (size_t i = 0; i < settled.size(); ++i) {
    const Pending& p = settled[i];
    note_loss(p.batch, p.step, values.data_ptr<double>()[i], p.samples);
  }
}

void TrainingLoop::note_loss(const Batch& batch, int64_t step, double loss, int64_t samples) {
  loss_total_ += loss * double(samples);
  loss_count_ += double(samples);
  recorder_->loss(step, loss);
  if (std::isfinite(loss)) return;
  refuse_not_a_number(batch, step);  // throws when the data is to blame
  for (const CallbackPtr& callback : options_.callbacks) callback->on_bad_loss(*this, step, loss);
  if (std::exchange(poisoned_, true)) return;
  explain_bad_loss(batch);
  if (!stopping_.empty()) return;
  warn(
      fmt::format("the loss is {} since step {}; the data of that batch is sound: lower the "
                  "learning rate, clip the gradients, or add TerminateOnNaN()",
                  loss, step));
}

void TrainingLoop::explain_bad_loss(const Batch& batch) {
  std::string origin;
  if (spec_.bad_origin) {
    origin = spec_.bad_origin(batch);
  } else if (const auto bad = bad_weights(weights_); !bad.empty()) {
    origin = bad[0] + " is not finite: an update of an earlier step broke it";
  }
  if (!origin.empty()) recorder_->note(NoteKind::kNanOrigin, origin);
}

// A loss that moves what no optimizer moves: forgotten, most likely.
void TrainingLoop::warn_of_left_out() {
  const std::string tensors = spec_.left_out ? spec_.left_out() : "";
  if (tensors.empty()) return;
  recorder_->note(NoteKind::kLeftOut, tensors);
  warn(
      fmt::format("the loss depends on tensors that are not trained: {}; name them in "
                  ".parameters, or detach them",
                  tensors));
}

Logs TrainingLoop::logs() {
  settle_losses();
  Logs logs;
  logs.set("loss", loss_count_ > 0 ? loss_total_ / loss_count_ : NAN);
  if (spec_.metrics) {
    for (const MetricState& metric : *spec_.metrics) logs.set(metric.name(), metric.value());
  }
  return logs;
}

void TrainingLoop::finish_epoch() {
  Logs logs = this->logs();
  if (poisoned_ && !stopping_.empty()) return;  // the last losses of a GPU spoke
  counters_.mark(StepPhase::kMetrics);
  if (spec_.validate && (epoch_ + 1) % options_.validation_every == 0) {
    recorder_->enter(RunPhase::kValidation);
    for (const auto& [name, value] : spec_.validate()) logs.set("val_" + name, value);
    counters_.mark(StepPhase::kValidation);
  }
  recorder_->enter(RunPhase::kCallbacks);
  call_back([&](Callback& callback) { callback.on_epoch_end(*this, logs); });
  counters_.mark(StepPhase::kCallbacks);
  view_.epoch_end(step_in_epoch_, counters_.times(), logs);
  recorder_->epoch_done(traced_epoch(logs));
  history_.epochs.push_back(logs);
  ++epoch_;
  step_in_epoch_ = 0;
  loss_total_ = loss_count_ = 0;
  if (spec_.metrics) {
    for (MetricState& metric : *spec_.metrics) metric.reset();
  }
  if (!one_pipeline_) stop_pipeline();
  write_checkpoint();
}

TraceEpoch TrainingLoop::traced_epoch(const Logs& logs) const {
  constexpr std::string_view kValidation = "val_";
  TraceEpoch out{.epoch = epoch_, .steps = step_in_epoch_};
  for (const auto& [name, value] : logs.all()) {
    const bool validation = name.starts_with(kValidation);
    (validation ? out.validation : out.logs)
        .emplace_back(validation ? name.substr(kValidation.size()) : name, value);
  }
  return out;
}

void TrainingLoop::stop(const std::string& reason) {
  if (stopping_.empty()) stopping_ = reason;
}

void TrainingLoop::watch(bool on) {
  if (!options_.telemetry || on == std::exchange(watching_, on)) return;
  if (!on) return recorder_->rest();
  const int64_t rested = recorder_->resume();
  if (signs_) signs_->put_off(rested);
}

void TrainingLoop::warn(const std::string& text) {
  view_.say("warning: " + text);
  if (recorder_) recorder_->note(NoteKind::kWarning, text);
  history_.warnings.push_back(text);
}

void TrainingLoop::remember_weights() {
  remembered_.clear();
  for (const NamedWeight& w : weights_) remembered_.push_back(w.value.detach().clone());
}

bool TrainingLoop::recall_weights() {
  if (remembered_.empty()) return false;
  const c10::NoGradGuard guard;
  for (size_t i = 0; i < remembered_.size(); ++i) {
    at::Tensor value = weights_[i].value;
    value.copy_(remembered_[i]);
  }
  return true;
}

void TrainingLoop::save_weights(const std::string& path) const { write_weights(path, weights_); }

}  // namespace headway
