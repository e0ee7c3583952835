#pragma once

#include <functional>
#include <string>

#include "headway/train/model/activation.h"

namespace at {
class Tensor;
}

namespace headway {

struct CrossentropyOptions {
  bool from_logits = false;  // true: the model ends without softmax or sigmoid
  double label_smoothing = 0;
};

// What training minimises: Keras' formulas, mean over the batch.
//
//   model.compile({.loss = SparseCategoricalCrossentropy({.from_logits = true})});
struct Loss {
  enum class Kind {
    kMeanSquaredError,
    kMeanAbsoluteError,
    kHuber,
    kBinaryCrossentropy,
    kCategoricalCrossentropy,
    kSparseCategoricalCrossentropy,
    kCustom,
  };

  Kind kind = Kind::kMeanSquaredError;
  bool from_logits = false;
  double label_smoothing = 0;
  double delta = 1;  // huber
  // (labels, outputs) -> one number per sample, or one for all.
  std::function<at::Tensor(const at::Tensor&, const at::Tensor&)> custom{};

  std::string name() const;  // "sparse_categorical_crossentropy"
  // Error, with the remedy, when a model that ends in `last` would not learn with this loss:
  // without softmax before a loss that expects probabilities, with softmax before one that expects
  // logits.
  void check_fits(Activation last) const;
};

Loss MeanSquaredError();
Loss MeanAbsoluteError();
Loss Huber(double delta = 1);
Loss BinaryCrossentropy(CrossentropyOptions options = {});
Loss CategoricalCrossentropy(CrossentropyOptions options = {});
// Labels are class numbers. Label smoothing: as if they were one-hot.
Loss SparseCategoricalCrossentropy(CrossentropyOptions options = {});

}  // namespace headway
