#pragma once

#include <c10/core/Device.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "headway/data/dataset.h"
#include "headway/observe/trace_recorder.h"
#include "headway/train/model/model.h"

// Inside train/: what feeds the loop.
namespace headway {

// How many batches an epoch has, the pipeline they come from, and the position it has reached.
// Training thread only, except end_wait().
//
//   TrainingFeed feed(dataset, options, device, recorder);
//   feed.start(epoch, position);
//   feed.read_first_batch();  // next() gives it again
//   while (auto batch = feed.next()) ...
//   feed.end_epoch();
class TrainingFeed {
 public:
  // Reads nothing. Error when the length of the dataset is known and does not fit the epochs.
  TrainingFeed(const Dataset& dataset, const FitOptions& options, c10::Device device,
               TraceRecorder& recorder);
  ~TrainingFeed();
  TrainingFeed(const TrainingFeed&) = delete;

  int64_t steps_per_epoch() const { return steps_; }  // -1: until the dataset ends

  void start(int64_t epoch, std::optional<PipelineState> from = {});
  bool running() const { return pipeline_.has_value(); }
  // Stops, unless one pipeline serves all epochs or that of the next one has been started.
  void end_epoch();
  void stop();

  bool read_first_batch();                                                  // false: there is none
  const std::optional<Batch>& first_batch() const { return first_batch_; }  // until next() gave it
  // Nothing at the end, or when it gave up.
  std::optional<Batch> next();
  bool gave_up() const { return gave_up_; }  // next() gave nothing because of end_wait()

  // After the last batch that next() gave. Nothing: at the beginning of the epoch.
  std::optional<std::string> position() const;
  // Returns when the pipeline has filled its queues, or after a few seconds.
  void await_quiet() const;

  // From any thread: a next() that waits, now or later, gives nothing.
  void end_wait();
  bool wait_ended() const { return wait_ended_; }

 private:
  Dataset dataset_;
  c10::Device device_;
  TraceRecorder& recorder_;
  std::optional<int> threads_;  // asked for
  int64_t steps_ = -1;
  bool steps_given_ = false;   // by the user
  bool one_pipeline_ = false;  // for all epochs: the next one is prefetched

  std::optional<Pipeline> pipeline_;
  std::optional<PipelineState> started_from_;
  std::optional<Batch> first_batch_;
  std::atomic<bool> wait_ended_{false};
  bool gave_up_ = false;
};

}  // namespace headway
