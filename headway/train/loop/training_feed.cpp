// The part of a TrainingLoop that deals with its data: how many batches, from where, and what
// happens when none comes.
#include <fmt/format.h>

#include <cstdlib>

#include "headway/core/error.h"
#include "headway/core/limits.h"
#include "headway/core/log.h"
#include "headway/observe/watchdog.h"
#include "headway/train/loop/training_loop.h"

namespace headway {

// Known lengths are checked before anything is read.
void TrainingLoop::plan_epochs(const Dataset& dataset) {
  const int64_t batches = dataset.cardinality();
  if (batches == 0) throw Error("the dataset is empty", "look at it with `headway inspect`");
  if (options_.steps_per_epoch && *options_.steps_per_epoch < 1)
    throw Error("fit: steps_per_epoch is less than 1");
  if (!options_.steps_per_epoch) {
    if (batches == kInfinite) {
      throw Error("the dataset has no end, so an epoch would have none",
                  "give steps_per_epoch, or take .repeat() out", "epoch-never-ends");
    }
    steps_ = batches == kUnknown ? -1 : batches;
    one_pipeline_ = steps_ > 0;
    return;
  }
  steps_ = *options_.steps_per_epoch;
  const int64_t wanted = steps_ * options_.epochs;
  if (batches >= 0 && batches < wanted) {
    throw Error(fmt::format("the dataset ends after {} batches; {} epochs of {} steps take {}",
                            batches, options_.epochs, steps_, wanted),
                "add .repeat() to the dataset, or leave steps_per_epoch out",
                "wrong-steps-per-epoch");
  }
  one_pipeline_ = true;
}

void TrainingLoop::start_pipeline(const Dataset& dataset, std::optional<PipelineState> state) {
  Dataset source = dataset;
  if (options_.threads.input) {
    source = source.with_options(Options{.threads = options_.threads.input});
  } else if (!spec_.device.is_cpu() && !source.options().spare_cores) {
    source = source.with_options(Options{.spare_cores = cores_beside_gpu(read_limits().cpus)});
  }
  // Without an end, so that a resumed run may ask for more epochs: the steps are counted here.
  if (one_pipeline_ && !options_.steps_per_epoch) source = source.repeat();
  const int64_t iteration = one_pipeline_ ? 0 : epoch_;
  pipeline_.emplace(source.start({.epoch = iteration, .state = std::move(state)}));
  recorder_->watch(&*pipeline_);
}

void TrainingLoop::stop_pipeline() {
  recorder_->watch(nullptr);
  // A worker that never comes back cannot be joined: it is left to itself, and its pipeline with
  // it.
  if (stuck_ && pipeline_) new Pipeline(std::move(*pipeline_));
  pipeline_.reset();
}

// On the recorder's thread, again and again while nothing moves.
void TrainingLoop::sound_alarm(const Trace& trace, const std::string& waits) {
  const std::string report = stuck_report(trace, waits);
  if (report.empty() || stuck_) return;
  log(LogLevel::kWarning, report);
  if (options_.when_stuck == WhenStuck::kGoOn) return;
  const bool waits_for_data = trace.samples.back().phase == RunPhase::kWaitingForData;
  if (options_.when_stuck == WhenStuck::kStop && waits_for_data) {
    stuck_ = true;
    return recorder_->interrupt_feed();
  }
  log(LogLevel::kWarning,
      fmt::format("aborting, as asked for; in \"{}\" nothing can be saved beyond the last "
                  "checkpoint",
                  text_of(trace.samples.back().phase)));
  std::abort();
}

std::optional<Batch> TrainingLoop::next_batch() {
  if (any_step_) recorder_->enter(RunPhase::kWaitingForData);
  std::optional<Batch> batch;
  try {
    batch = pipeline_->next();
  } catch (const Error&) {
    if (!stuck_) throw;
    interrupted_ = true;
    stop("stuck");
  }
  counters_.mark(StepPhase::kWaitForData);
  if (any_step_) recorder_->enter(RunPhase::kStep);
  return batch;
}

}  // namespace headway
