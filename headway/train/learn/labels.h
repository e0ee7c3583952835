#pragma once

#include <ATen/core/Tensor.h>

#include "headway/train/model/activation.h"

// Inside train/: labels and outputs brought to one shape and type, as Keras does it, for losses and
// metrics. Classes are on the last axis.
namespace headway {

struct Aligned {
  at::Tensor labels, output;
};

// Same rank (a last axis of 1 is added or dropped where one of them lacks it), same shape, labels
// in the output's type. Error when they do not fit.
Aligned align_values(const at::Tensor& labels, const at::Tensor& output);
// As align_values, with a hint for one-hot labels.
Aligned align_one_hot(const at::Tensor& labels, const at::Tensor& output);
// Labels: class numbers as int64, of the output's shape without its last axis.
Aligned align_classes(const at::Tensor& labels, const at::Tensor& output);

// `weights` (N, or the shape of `values`) so that they multiply `values`, one per sample.
at::Tensor align_weights(const at::Tensor& weights, const at::Tensor& values);

at::Tensor full_precision(const at::Tensor& x);                    // half floats as float32
at::Tensor activated(const at::Tensor& x, Activation activation);  // softmax over the last axis

}  // namespace headway
