#include "headway/train/learn/metric.h"

#include <fmt/format.h>

#include "headway/core/error.h"

namespace headway {

std::string Metric::name() const {
  switch (kind) {
    case Kind::kAccuracy: return "accuracy";
    case Kind::kTopK: return fmt::format("top_{}_accuracy", k);
    case Kind::kMeanSquaredError: return "mse";
    case Kind::kMeanAbsoluteError: return "mae";
  }
  return "";
}

Metric Accuracy(std::optional<double> threshold) {
  return {.kind = Metric::Kind::kAccuracy, .threshold = threshold};
}

Metric TopKAccuracy(int k) {
  if (k < 1) throw Error(fmt::format("TopKAccuracy: invalid k {}", k), "k must be at least 1");
  return {.kind = Metric::Kind::kTopK, .k = k};
}

Metric MSE() { return {.kind = Metric::Kind::kMeanSquaredError}; }
Metric MAE() { return {.kind = Metric::Kind::kMeanAbsoluteError}; }

}  // namespace headway
