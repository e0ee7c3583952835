#include "headway/train/loop/training_feed.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <utility>

#include "headway/core/error.h"
#include "headway/core/limits.h"

namespace headway {

TrainingFeed::TrainingFeed(const Dataset& dataset, const FitOptions& options, c10::Device device,
                           TraceRecorder& recorder)
    : dataset_(dataset), device_(device), recorder_(recorder), threads_(options.threads.input) {
  const int64_t batches = dataset.cardinality();
  if (batches == 0)
    throw Error("the dataset is empty",
                "check that its list of files is not empty, and that no .filter() drops every "
                "sample; `headway inspect FOLDER` shows what a folder holds");
  if (options.steps_per_epoch && *options.steps_per_epoch < 1)
    throw Error(
        fmt::format("fit: steps_per_epoch is {}, but must be 1 or more", *options.steps_per_epoch),
        "set .steps_per_epoch in fit's options, or leave it out for all of the dataset");
  if (!options.steps_per_epoch) {
    if (batches == kInfinite) {
      throw Error("the dataset never ends, so an epoch would never end",
                  "set .steps_per_epoch in fit's options, or remove .repeat() from the dataset",
                  "epoch-never-ends");
    }
    steps_ = batches == kUnknown ? -1 : batches;
    one_pipeline_ = steps_ > 0;
    return;
  }
  steps_ = *options.steps_per_epoch;
  steps_given_ = true;
  const int64_t wanted = steps_ * options.epochs;
  if (batches >= 0 && batches < wanted) {
    throw Error(fmt::format("the dataset ends after {} batches, but {} epochs of {} steps take {}",
                            batches, options.epochs, steps_, wanted),
                "add .repeat() to the dataset, or leave out steps_per_epoch",
                "wrong-steps-per-epoch");
  }
  one_pipeline_ = true;
}

TrainingFeed::~TrainingFeed() {
  if (pipeline_) recorder_.watch(nullptr);
}

void TrainingFeed::start(int64_t epoch, std::optional<PipelineState> from) {
  Dataset source = dataset_;
  if (threads_) {
    source = source.with_options(Options{.threads = threads_});
  } else if (!device_.is_cpu() && !source.options().spare_cores) {
    source = source.with_options(Options{.spare_cores = cores_beside_gpu(read_limits().cpus)});
  }
  // Without an end, so that a resumed run may ask for more epochs: the loop counts the steps.
  if (one_pipeline_ && !steps_given_) source = source.repeat();
  started_from_ = std::move(from);
  pipeline_.emplace(source.start({.epoch = one_pipeline_ ? 0 : epoch, .state = started_from_}));
  recorder_.watch(&*pipeline_);
}

void TrainingFeed::stop() {
  recorder_.watch(nullptr);
  // A worker that never returns cannot be joined: it and its pipeline are not destroyed.
  if (wait_ended_ && pipeline_) new Pipeline(std::move(*pipeline_));
  pipeline_.reset();
}

void TrainingFeed::end_epoch() {
  const bool begun_next = first_batch_.has_value();
  if (!one_pipeline_ && !begun_next) stop();
}

bool TrainingFeed::read_first_batch() {
  first_batch_ = next();
  return first_batch_.has_value();
}

std::optional<Batch> TrainingFeed::next() {
  if (first_batch_) return std::exchange(first_batch_, {});
  try {
    return pipeline_->next();
  } catch (const Error&) {
    if (!wait_ended_) throw;
    gave_up_ = true;
    return std::nullopt;
  }
}

std::optional<std::string> TrainingFeed::position() const {
  if (first_batch_) {
    if (started_from_) return started_from_->text;
  } else if (pipeline_) {
    return pipeline_->save().text;
  }
  return std::nullopt;
}

void TrainingFeed::await_quiet() const {
  constexpr auto kPause = std::chrono::milliseconds(100);
  constexpr double kLongestWaitS = 3;
  int64_t before = -1, unchanged = 0;
  for (double waited = 0; waited < kLongestWaitS && unchanged < 2; waited += 0.1) {
    int64_t done = 0;
    for (const StageReading& stage : pipeline_->stats().done) done += stage.in + stage.out;
    unchanged = done == before ? unchanged + 1 : 0;
    before = done;
    std::this_thread::sleep_for(kPause);
  }
}

void TrainingFeed::end_wait() {
  wait_ended_ = true;
  recorder_.interrupt_feed();
}

}  // namespace headway
