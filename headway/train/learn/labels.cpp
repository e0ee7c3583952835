#include "headway/train/learn/labels.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "headway/core/error.h"
#include "headway/train/layers/apply_activation.h"

namespace headway {
namespace {

std::string shape_of(const at::Tensor& x) {
  return x.dim() == 0 ? "a scalar" : fmt::format("{}", fmt::join(x.sizes(), "x"));
}

[[noreturn]] void refuse(const at::Tensor& labels, const at::Tensor& output, const char* hint) {
  throw Error(
      fmt::format("labels have shape {}, which does not fit the model's outputs of shape {}",
                  shape_of(labels), shape_of(output)),
      hint);
}

Aligned align(at::Tensor labels, at::Tensor output, const char* hint) {
  if (output.dim() == 1) output = output.unsqueeze(-1);
  if (labels.dim() == 1) labels = labels.unsqueeze(-1);
  if (labels.dim() == output.dim() + 1 && labels.size(-1) == 1) labels = labels.squeeze(-1);
  if (output.dim() == labels.dim() + 1 && output.size(-1) == 1) output = output.squeeze(-1);
  if (labels.sizes() != output.sizes()) refuse(labels, output, hint);
  return {labels.to(output.scalar_type()), output};
}

}  // namespace

Aligned align_values(const at::Tensor& labels, const at::Tensor& output) {
  return align(labels, output, "give the last layer as many units as a label has values");
}

Aligned align_one_hot(const at::Tensor& labels, const at::Tensor& output) {
  return align(labels, output,
               "class numbers need SparseCategoricalCrossentropy; one-hot labels need one value "
               "per class");
}

Aligned align_classes(const at::Tensor& labels, const at::Tensor& output) {
  const at::Tensor y = output.dim() == 1 ? output.unsqueeze(-1) : output;
  const bool column = labels.dim() == y.dim() && labels.size(-1) == 1;
  const at::Tensor t = column ? labels.squeeze(-1) : labels;
  if (t.sizes() != y.sizes().slice(0, size_t(y.dim() - 1)))
    refuse(labels, output,
           labels.sizes() == y.sizes()
               ? "one-hot labels need CategoricalCrossentropy"
               : "labels must be class numbers: one per sample, or one per step or pixel where the "
                 "model gives one output for each");
  return {t.to(at::kLong), y};
}

at::Tensor align_weights(const at::Tensor& weights, const at::Tensor& values) {
  at::Tensor w = weights;
  while (w.dim() > values.dim() && w.size(-1) == 1) w = w.squeeze(-1);
  while (w.dim() < values.dim()) w = w.unsqueeze(-1);
  const bool fits = values.dim() == 0 || (w.dim() == values.dim() && w.size(0) == values.size(0) &&
                                          at::is_expandable_to(w.sizes(), values.sizes()));
  if (!fits)
    throw Error(
        fmt::format(
            "the sample weights have shape {}, which does not fit the losses of the batch, of "
            "shape {}",
            shape_of(weights), shape_of(values)),
        "give one weight per sample");
  return w.to(values.scalar_type());
}

at::Tensor full_precision(const at::Tensor& x) {
  const bool half = x.scalar_type() == at::kHalf || x.scalar_type() == at::kBFloat16;
  return half ? x.to(at::kFloat) : x;
}

at::Tensor activated(const at::Tensor& x, Activation activation) {
  return activation == Activation() ? x : apply_activation(x, activation, -1);
}

}  // namespace headway
