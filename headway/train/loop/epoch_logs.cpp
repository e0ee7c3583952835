#include "headway/train/loop/epoch_logs.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <tuple>

#include "headway/core/error.h"

namespace headway {

void EpochLogs::add(double loss, int64_t samples) {
  loss_total_ += loss * double(samples);
  loss_count_ += double(samples);
}

Logs EpochLogs::logs() const {
  Logs logs;
  logs.set("loss", loss_count_ > 0 ? loss_total_ / loss_count_ : NAN);
  if (metrics_) {
    for (const MetricState& metric : *metrics_) logs.set(metric.name(), metric.value());
  }
  return logs;
}

void EpochLogs::reset() {
  loss_total_ = loss_count_ = 0;
  if (!metrics_) return;
  for (MetricState& metric : *metrics_) metric.reset();
}

void EpochLogs::save(SavedTraining& to) const {
  to.loss = {loss_total_, loss_count_};
  if (!metrics_) return;
  for (const MetricState& metric : *metrics_) {
    const auto sums = metric.sums();
    to.metrics.emplace_back(sums.total, sums.count);
  }
}

void EpochLogs::restore(const SavedTraining& from) {
  std::tie(loss_total_, loss_count_) = from.loss;
  const size_t metrics = metrics_ ? metrics_->size() : 0;
  if (from.metrics.size() < metrics) {
    throw Error(fmt::format("the checkpoint has {} metrics, but this model has {}",
                            from.metrics.size(), metrics),
                "compile the model with the same metrics as before, or give another checkpoint "
                "folder");
  }
  for (size_t i = 0; i < metrics; ++i) {
    (*metrics_)[i].restore({from.metrics[i].first, from.metrics[i].second});
  }
}

TraceEpoch traced_epoch(int64_t epoch, int64_t steps, const Logs& logs) {
  constexpr std::string_view kValidation = "val_";
  TraceEpoch out{.epoch = epoch, .steps = steps};
  for (const auto& [name, value] : logs.all()) {
    const bool validation = name.starts_with(kValidation);
    (validation ? out.validation : out.logs)
        .emplace_back(validation ? name.substr(kValidation.size()) : name, value);
  }
  return out;
}

}  // namespace headway
