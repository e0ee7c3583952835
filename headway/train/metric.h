#pragma once

#include <string>

namespace headway {

// What is reported beside the loss: the mean over all samples since the epoch began.
struct Metric {
  enum class Kind { kAccuracy, kTopK, kMeanSquaredError, kMeanAbsoluteError };

  Kind kind = Kind::kAccuracy;
  int k = 5;
  double threshold = 0.5;  // binary accuracy

  std::string name() const;  // "accuracy", "top_5_accuracy", "mse", "mae"
};

// Binary, categorical or sparse, whichever fits the loss and the shapes, as Keras' "accuracy".
Metric Accuracy(double threshold = 0.5);
Metric TopKAccuracy(int k = 5);
Metric MSE();
Metric MAE();

}  // namespace headway
