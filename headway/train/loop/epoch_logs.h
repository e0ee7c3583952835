#pragma once

#include <cstdint>
#include <vector>

#include "headway/trace/trace.h"
#include "headway/train/learn/metric_state.h"
#include "headway/train/loop/history.h"
#include "headway/train/loop/saved_training.h"

// Inside train/: what an epoch shows.
namespace headway {

// The mean loss and the metrics of the epoch so far.
class EpochLogs {
 public:
  // `metrics` is updated by the forward pass and must outlive this; null: no metrics.
  explicit EpochLogs(std::vector<MetricState>* metrics) : metrics_(metrics) {}

  void add(double loss, int64_t samples);
  Logs logs() const;  // waits for the device when there are metrics

  void reset();

  void save(SavedTraining& to) const;
  void restore(const SavedTraining& from);

 private:
  double loss_total_ = 0, loss_count_ = 0;
  std::vector<MetricState>* metrics_;
};

// The logs of an epoch for the trace, those of validation apart and without "val_".
TraceEpoch traced_epoch(int64_t epoch, int64_t steps, const Logs& logs);

}  // namespace headway
