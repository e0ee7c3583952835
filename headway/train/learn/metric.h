#pragma once

#include <optional>
#include <string>

namespace headway {

// What is reported beside the loss: the mean over all samples since the epoch began.
struct Metric {
  enum class Kind { kAccuracy, kTopK, kMeanSquaredError, kMeanAbsoluteError };

  Kind kind = Kind::kAccuracy;
  int k = 5;
  // Binary accuracy: outputs above it count as 1. Default: a probability of 0.5, which is 0 when
  // the loss takes logits (Keras compares logits with 0.5).
  std::optional<double> threshold{};

  std::string name() const;  // "accuracy", "top_5_accuracy", "mse", "mae"
};

// As Keras' "accuracy": binary when there is one output, sparse when labels are class numbers,
// else categorical. With binary crossentropy always binary: several outputs are several yes-or-no
// answers (Keras compares the largest ones).
Metric Accuracy(std::optional<double> threshold = {});
// Labels: class numbers or one-hot. Equal outputs share the better rank.
Metric TopKAccuracy(int k = 5);
Metric MSE();
Metric MAE();

}  // namespace headway
