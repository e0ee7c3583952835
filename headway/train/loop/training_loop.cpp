#include "headway/train/loop/training_loop.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "headway/core/clock.h"
#include "headway/core/error.h"
#include "headway/observe/feed_watch.h"
#include "headway/train/device/device.h"
#include "headway/train/device/threads.h"
#include "headway/train/learn/loss_function.h"
#include "headway/train/loop/bad_sample.h"
#include "headway/train/loop/replay.h"
#include "headway/train/loop/stuck_alarm.h"

namespace headway {
namespace {

FitOptions checked_options(const FitOptions& options) {
  const auto too_few = [](const char* name, int64_t value, const char* otherwise) {
    throw Error(fmt::format("fit: {} is {}, but must be 1 or more", name, value),
                fmt::format("set .{} in fit's options, or leave it out for {}", name, otherwise));
  };
  if (options.epochs < 1) too_few("epochs", options.epochs, "1");
  if (options.accumulate < 1) too_few("accumulate", options.accumulate, "1");
  if (options.validation_steps && *options.validation_steps < 1)
    too_few("validation_steps", *options.validation_steps, "all of the validation data");
  const ThreadCounts& threads = options.threads;
  for (const std::optional<int>& count : {threads.intra_op, threads.inter_op, threads.input})
    if (count && *count < 1)
      throw Error(fmt::format("fit: a number of threads is {}, but must be 1 or more", *count),
                  "correct .intra_op, .inter_op or .input in fit's .threads, or leave it out to "
                  "have it chosen automatically");
  return options;
}

std::optional<CheckpointFolder> folder_for(const CheckpointOptions& options) {
  if (options.folder.empty()) return std::nullopt;
  return CheckpointFolder(options);
}

// What is known before the first batch.
RunFacts first_facts(const LoopSpec& spec, const FitOptions& options, const Dataset& dataset,
                     const CallbackList& callbacks) {
  RunFacts facts = facts_of_feed(dataset);
  facts.program = "headway";
  if (!spec.device.is_cpu()) facts.device = spec.device.str();
  facts.compute_threads = options.threads.intra_op.value_or(0);
  if (options.threads.input) facts.input_threads = *options.threads.input;
  facts.products = spec.products;
  facts.optimizer = spec.optimizer.describe();
  facts.epochs = options.epochs;
  facts.callbacks = callbacks.names();
  return facts;
}

// The trace ends with what went wrong.
void finish_with(TraceRecorder& recorder, const std::exception& e) {
  const auto* error = dynamic_cast<const Error*>(&e);
  if (error && !error->cause().empty()) {
    recorder.note({.kind = NoteKind::kCause,
                   .text = error->problem(),
                   .cause = from_text<Cause>(error->cause()).value_or(Cause::kUnknown)});
    if (!error->hint().empty()) recorder.note(NoteKind::kRemedy, error->hint());
  }
  recorder.watch(nullptr);
  recorder.finish(std::string("failed: ") + e.what());
}

}  // namespace

TrainingLoop::TrainingLoop(LoopSpec spec, const FitOptions& options, TrainingView& view,
                           const Dataset& dataset)
    : spec_(std::move(spec)),
      options_(checked_options(options)),
      view_(view),
      dataset_(dataset),
      callbacks_(options.callbacks),
      checkpoints_(folder_for(options.checkpoint)),
      recorder_(options.trace, first_facts(spec_, options_, dataset_, callbacks_), counters_,
                gpu_address(spec_.device.str()), options.telemetry),
      watch_(recorder_, options.telemetry),
      run_(options.epochs, view, recorder_, watch_),
      epoch_logs_(spec_.metrics) {}

History TrainingLoop::run() {
  try {
    feed_.emplace(dataset_, options_, spec_.device, recorder_);
    recorder_.when_quiet(StuckAlarm(options_.when_stuck, *feed_));
    if (options_.on_look) recorder_.when_looked(options_.on_look);
    return train();
  } catch (const std::exception& e) {
    finish_with(recorder_, e);
    throw;
  }
}

History TrainingLoop::train() {
  const int64_t begun = now_ns();
  begin();
  callbacks_.call_timed(recorder_, [this](Callback& callback) { callback.on_train_begin(run_); });
  while (run_.epoch() < options_.epochs && !run_.stopping()) run_epoch();
  view_.phases_done();
  recorder_.enter(RunPhase::kFinishing);
  feed_->stop();
  recorder_.enter(RunPhase::kCallbacks);
  callbacks_.call_timed(recorder_, [this](Callback& callback) { callback.on_train_end(run_); });
  history_.steps = run_.step();
  history_.stopped_by = run_.stopped_by();
  history_.warnings = run_.warnings();
  history_.times = counters_.times();
  history_.samples = counters_.samples();
  history_.seconds = 1e-9 * double(now_ns() - begun);
  history_.trace = std::make_shared<Trace>(
      recorder_.finish(run_.stopping() ? "stopped: " + run_.stopped_by() : "finished"));
  return std::move(history_);
}

// Up to the point where a step could be made.
void TrainingLoop::begin() {
  std::optional<FoundCheckpoint> found = find_checkpoint();
  std::optional<SavedTraining> saved;
  std::optional<PipelineState> position;
  if (found) {
    saved = found->saved();
    restore(*saved);
    if (saved->pipeline) position = PipelineState{*saved->pipeline};
  }
  view_.phase("first batch");
  recorder_.enter(RunPhase::kFirstBatch);
  counters_.restart();
  try {
    feed_->start(run_.epoch(), std::move(position));
  } catch (const Error& e) {
    if (!found) throw;
    throw found->blamed(e);
  }
  bool any_batch = feed_->read_first_batch();
  if (!any_batch && run_.progress.step_in_epoch > 0 && feed_->steps_per_epoch() < 0) {
    // Interrupted after the last batch of an epoch, which nobody knew to be the last.
    epoch_is_over_ = true;
    feed_->stop();
    feed_->start(run_.epoch() + 1);
    any_batch = feed_->read_first_batch();
  }
  counters_.mark(StepPhase::kWaitForData);
  if (!any_batch) {
    throw Error("the dataset gave no batches",
                "check whether a .filter() drops every sample, or every sample is bad and skipped "
                "(.errors in with_options)",
                "source-never-yields");
  }
  history_.first_batch_s = counters_.times()[StepPhase::kWaitForData];
  view_.phase("building");
  recorder_.enter(RunPhase::kBuilding);
  const Batch& batch = *feed_->first_batch();
  run_.built(TrainedState(spec_.build(batch), spec_.optimizer, spec_.device));
  if (found) restore_trained(*found, *saved);
  const std::vector<LayerPlan>* layers = spec_.layers ? spec_.layers() : nullptr;
  RunFacts facts = first_facts(spec_, options_, dataset_, callbacks_);
  facts.batch_size = samples_in(batch);
  facts.steps_per_epoch = feed_->steps_per_epoch();
  facts.resumed = options_.checkpoint.resume && run_.step() > 0;
  if (layers && !layers->empty()) facts.model = fmt::format("{} layers", layers->size());
  facts.parameters = run_.trained().parameter_count();
  recorder_.facts(std::move(facts));
  watch_.begin(run_.trained().weights(), layers);
  found.reset();  // as large as the model
  if (options_.replay) replay_first_batch();
  counters_.restart();
}

std::optional<FoundCheckpoint> TrainingLoop::find_checkpoint() {
  if (!options_.checkpoint.resume) return std::nullopt;
  if (!checkpoints_)
    throw Error("the training is to be resumed, but no checkpoint folder is given",
                "set .checkpoint.folder in fit's options to the folder of the earlier run, or set "
                ".checkpoint.resume = false");
  std::vector<std::string> complaints;
  std::optional<FoundCheckpoint> found = checkpoints_->newest(complaints);
  for (const std::string& text : complaints) run_.warn(text);
  return found;
}

// All that does not need the weights.
void TrainingLoop::restore(const SavedTraining& saved) {
  run_.restore(saved);
  checkpoints_->resumed(saved.epoch, saved.step);
  history_.epochs = saved.history;
  callbacks_.restore(saved.callbacks);
  if (spec_.threads_chosen) {  // another number would round sums differently
    const auto intra_op = saved.threads[0] > 0 ? std::optional(saved.threads[0]) : std::nullopt;
    options_.threads = apply_threads({.intra_op = intra_op, .input = options_.threads.input},
                                     !spec_.device.is_cpu());
  }
}

void TrainingLoop::restore_trained(const FoundCheckpoint& found, const SavedTraining& saved) {
  try {
    if (saved.description != spec_.description()) {
      throw Error(
          fmt::format("this checkpoint was written by another training\n  checkpoint     {}\n  "
                      "this training  {}",
                      saved.description, spec_.description()),
          "give another checkpoint folder, or train the same model with the same loss and "
          "optimizer");
    }
    run_.trained().restore(saved, found.content);
    epoch_logs_.restore(saved);
  } catch (const Error& e) {
    throw found.blamed(e,
                       "resume with the program that wrote it, or give another checkpoint folder");
  }
  view_.say(fmt::format("resumed after step {} ({})", run_.step(), found.path));
}

void TrainingLoop::replay_first_batch() {
  view_.phase("replaying the first batch");
  recorder_.enter(RunPhase::kProbing);
  feed_->await_quiet();  // a pipeline that fills its queues would take cores away
  SavedTraining logs;
  epoch_logs_.save(logs);
  const Replayed replayed = replay(*feed_->first_batch(), run_.trained(), [this](Batch& batch) {
    StepCounters unused;  // a replay must not count as steps of the run
    return spec_.forward_to_loss(batch, unused, nullptr);
  });
  if (!replayed.refusal.empty()) recorder_.note(NoteKind::kProbe, replayed.refusal);
  epoch_logs_.restore(logs);
  recorder_.replay(replayed.reading);
}

void TrainingLoop::run_epoch() {
  const TrainingProgress& progress = run_.progress;
  if (!feed_->running()) feed_->start(progress.epoch);
  if (progress.step_in_epoch == 0) {
    callbacks_.call_timed(recorder_, [this](Callback& callback) { callback.on_epoch_begin(run_); });
    counters_.mark(StepPhase::kCallbacks);
  }
  const int64_t steps = feed_->steps_per_epoch();
  if (std::exchange(epoch_is_over_, false)) {
    view_.phases_done();
    view_.epoch_begin(progress.epoch, options_.epochs, steps);
    return finish_epoch();
  }
  if (any_step_) view_.epoch_begin(progress.epoch, options_.epochs, steps);
  run_steps();
  if (bad_loss_seen_ && run_.stopping()) return;
  if (!run_.stopping() || (steps > 0 && progress.step_in_epoch == steps)) return finish_epoch();
  write_checkpoint();
}

void TrainingLoop::run_steps() {
  const TrainingProgress& progress = run_.progress;
  const int64_t steps = feed_->steps_per_epoch();
  while (!run_.stopping() && (steps < 0 || progress.step_in_epoch < steps)) {
    if (options_.should_stop && options_.should_stop()) return run_.interrupt("interrupted");
    std::optional<Batch> batch = next_batch();
    if (run_.stopping()) return;
    if (!batch) {
      if (steps < 0) return;
      throw Error(fmt::format("the dataset ended before step {} of {} in epoch {}",
                              progress.step_in_epoch + 1, steps, progress.epoch + 1),
                  "add .repeat() to the dataset, set a smaller steps_per_epoch, or check whether "
                  "bad samples are skipped (.errors in with_options)",
                  "wrong-steps-per-epoch");
    }
    const int64_t began = now_ns();
    if (!any_step_) {
      view_.phase("first step");
      recorder_.enter(RunPhase::kFirstStep);
    }
    train_batch(std::move(*batch));
    if (!any_step_) {
      any_step_ = true;
      history_.first_step_s = 1e-9 * double(now_ns() - began);
      warn_of_untrained();
      view_.phases_done();
      view_.epoch_begin(progress.epoch, options_.epochs, steps);
    }
    if (run_.stopping()) return;
    // The end of the epoch writes one anyway.
    if (checkpoints_ && progress.step_in_epoch != steps && checkpoints_->due(progress.step)) {
      write_checkpoint();
    }
    view_.step(progress.step_in_epoch, counters_.times(), [this] { return logs(); });
  }
}

std::optional<Batch> TrainingLoop::next_batch() {
  if (feed_->first_batch()) return feed_->next();  // without a wait
  if (any_step_) recorder_.enter(RunPhase::kWaitingForData);
  std::optional<Batch> batch = feed_->next();
  if (feed_->gave_up()) run_.interrupt("stuck");
  counters_.mark(StepPhase::kWaitForData);
  if (any_step_) recorder_.enter(RunPhase::kStep);
  return batch;
}

void TrainingLoop::train_batch(Batch batch) {
  TrainingProgress& progress = run_.progress;
  const int64_t samples = samples_in(batch);
  if (progress.accumulated == 0) watch_.measure(progress.step + 1);
  const at::Tensor loss = spec_.forward_to_loss(batch, counters_, watch_.observer());
  check_loss(loss);
  if (spec_.device.is_cpu()) {  // before the weights move
    note_loss(batch, progress.step + 1, loss.item<double>(), samples);
    if (run_.stopping()) return;
  } else {
    pending_.add(loss.detach(), std::move(batch), progress.step + 1, samples);
  }
  (options_.accumulate > 1 ? loss / double(options_.accumulate) : loss).backward();
  counters_.mark(StepPhase::kBackward);
  if (++progress.accumulated == options_.accumulate) update_weights();
  ++progress.step;
  ++progress.step_in_epoch;
  counters_.step_done(samples);
  recorder_.position(progress.epoch, progress.step_in_epoch, run_.learning_rate());
  if (pending_.full()) fetch_losses();
  counters_.mark(StepPhase::kMetrics);
  if (!callbacks_.want_batches()) return;
  recorder_.enter(RunPhase::kCallbacks);
  callbacks_.call_timed(recorder_, [&](Callback& callback) {
    if (callback.wants_batches()) callback.on_batch_end(run_, loss.item<double>());
  });
  counters_.mark(StepPhase::kCallbacks);
}

void TrainingLoop::update_weights() {
  OptimizerState& optimizer = run_.trained().optimizer();
  watch_.before_update();
  optimizer.step();
  watch_.after_update();
  optimizer.zero_grad();
  run_.progress.accumulated = 0;
  counters_.mark(StepPhase::kOptimizer);
}

void TrainingLoop::finish_epoch() {
  Logs logs = this->logs();
  if (bad_loss_seen_ && run_.stopping()) return;  // a callback stopped at the last losses of a GPU
  counters_.mark(StepPhase::kMetrics);
  TrainingProgress& progress = run_.progress;
  if (spec_.validate && (progress.epoch + 1) % options_.validation_every == 0) {
    recorder_.enter(RunPhase::kValidation);
    for (const auto& [name, value] : spec_.validate()) logs.set("val_" + name, value);
    counters_.mark(StepPhase::kValidation);
  }
  recorder_.enter(RunPhase::kCallbacks);
  callbacks_.call_timed(recorder_, [&](Callback& callback) { callback.on_epoch_end(run_, logs); });
  counters_.mark(StepPhase::kCallbacks);
  view_.epoch_end(progress.step_in_epoch, counters_.times(), logs);
  recorder_.epoch_done(traced_epoch(progress.epoch, progress.step_in_epoch, logs));
  history_.epochs.push_back(logs);
  ++progress.epoch;
  progress.step_in_epoch = 0;
  epoch_logs_.reset();
  feed_->end_epoch();
  write_checkpoint();
}

Logs TrainingLoop::logs() {
  fetch_losses();
  return epoch_logs_.logs();
}

void TrainingLoop::fetch_losses() {
  for (const FetchedLoss& loss : pending_.fetch()) {
    note_loss(loss.batch, loss.step, loss.value, loss.samples);
  }
}

void TrainingLoop::note_loss(const Batch& batch, int64_t step, double loss, int64_t samples) {
  epoch_logs_.add(loss, samples);
  recorder_.loss(step, loss);
  if (!std::isfinite(loss)) note_bad_loss(batch, step, loss);
}

void TrainingLoop::note_bad_loss(const Batch& batch, int64_t step, double loss) {
  check_finite_values(batch, step);  // Error when the data is bad
  for (const CallbackPtr& callback : callbacks_) callback->on_bad_loss(run_, step, loss);
  if (std::exchange(bad_loss_seen_, true)) return;
  std::string origin;
  if (spec_.nonfinite_origin) {
    origin = spec_.nonfinite_origin(batch);
  } else if (const auto bad = nonfinite_weights(run_.trained().weights()); !bad.empty()) {
    origin = bad[0] + " is not finite since an update in an earlier step";
  }
  if (!origin.empty()) recorder_.note(NoteKind::kNanOrigin, origin);
  if (run_.stopping()) return;
  run_.warn(fmt::format(
      "the loss became {} in step {}, although the batch has only finite values: lower the "
      "learning rate, clip the gradients, or add TerminateOnNaN()",
      loss, step));
}

// Most likely they were forgotten.
void TrainingLoop::warn_of_untrained() {
  const std::string tensors = spec_.untrained ? spec_.untrained() : "";
  if (tensors.empty()) return;
  recorder_.note(NoteKind::kLeftOut, tensors);
  run_.warn(
      fmt::format("the loss depends on tensors that are not trained: {}; name them in "
                  ".parameters, or detach them",
                  tensors));
}

void TrainingLoop::write_checkpoint() {
  if (!checkpoints_ || checkpoints_->has(run_.epoch(), run_.step())) return;
  fetch_losses();  // one of them may be bad
  if (bad_loss_seen_) {
    if (run_.interrupted())
      run_.warn(
          "no checkpoint was written at the interruption: the loss is not finite; the last "
          "checkpoint before it stays");
    return;
  }
  recorder_.enter(RunPhase::kCheckpoint);
  SavedTraining saved;
  saved.description = spec_.description();
  saved.callbacks = callbacks_.save();
  saved.history = history_.epochs;
  saved.threads = {options_.threads.intra_op.value_or(0), options_.threads.inter_op.value_or(0),
                   options_.threads.input.value_or(0)};
  saved.pipeline = feed_->position();
  Safetensors content;
  run_.save(saved);
  epoch_logs_.save(saved);
  run_.trained().save(saved, content);
  if (const auto problem = checkpoints_->write(saved, std::move(content))) {
    recorder_.note(NoteKind::kCheckpointFailed, *problem);
    run_.warn(*problem);
  }
  counters_.mark(StepPhase::kCheckpoint);
}

}  // namespace headway
