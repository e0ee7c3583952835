#pragma once

#include <optional>
#include <string>

namespace headway {

// What is reported beside the loss: the mean over all samples since the epoch began.
struct Metric {
  enum class Kind { kAccuracy, kTopK, kMeanSquaredError, kMeanAbsoluteError };

  Kind kind = Kind::kAccuracy;
  int k = 5;
  // Binary accuracy: outputs above it count as 1. By default what a probability of 0.5 is to the
  // loss: 0.5, and 0 when the loss takes logits (where Keras goes on comparing with 0.5).
  std::optional<double> threshold{};

  std::string name() const;  // "accuracy", "top_5_accuracy", "mse", "mae"
};

// As Keras' "accuracy": binary when there is one output, sparse when targets are class numbers,
// else categorical. Under binary crossentropy always binary: several outputs are several yes or no
// answers there (Keras compares the largest ones).
Metric Accuracy(std::optional<double> threshold = {});
// Class numbers or one-hot. Equal outputs share the better place.
Metric TopKAccuracy(int k = 5);
Metric MSE();
Metric MAE();

}  // namespace headway
