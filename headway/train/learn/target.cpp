#include "headway/train/learn/target.h"

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

[[noreturn]] void refuse(const at::Tensor& target, const at::Tensor& output, const char* hint) {
  throw Error(
      fmt::format("targets are {}, the model's outputs {}", shape_of(target), shape_of(output)),
      hint);
}

Aligned align(at::Tensor target, at::Tensor output, const char* hint) {
  if (output.dim() == 1) output = output.unsqueeze(-1);
  if (target.dim() == 1) target = target.unsqueeze(-1);
  if (target.dim() == output.dim() + 1 && target.size(-1) == 1) target = target.squeeze(-1);
  if (output.dim() == target.dim() + 1 && output.size(-1) == 1) output = output.squeeze(-1);
  if (target.sizes() != output.sizes()) refuse(target, output, hint);
  return {target.to(output.scalar_type()), output};
}

}  // namespace

Aligned align_values(const at::Tensor& target, const at::Tensor& output) {
  return align(target, output, "give the last layer as many units as a target has values");
}

Aligned align_one_hot(const at::Tensor& target, const at::Tensor& output) {
  return align(target, output,
               "class numbers need SparseCategoricalCrossentropy; one-hot targets need one value "
               "per class");
}

Aligned align_classes(const at::Tensor& target, const at::Tensor& output) {
  const at::Tensor y = output.dim() == 1 ? output.unsqueeze(-1) : output;
  const bool column = target.dim() == y.dim() && target.size(-1) == 1;
  const at::Tensor t = column ? target.squeeze(-1) : target;
  if (t.sizes() != y.sizes().slice(0, size_t(y.dim() - 1)))
    refuse(target, output,
           target.sizes() == y.sizes()
               ? "one-hot targets need CategoricalCrossentropy"
               : "targets are class numbers: one per sample, and per step or pixel where the model "
                 "gives some");
  return {t.to(at::kLong), y};
}

at::Tensor align_weights(const at::Tensor& weights, const at::Tensor& values) {
  at::Tensor w = weights;
  while (w.dim() > values.dim() && w.size(-1) == 1) w = w.squeeze(-1);
  while (w.dim() < values.dim()) w = w.unsqueeze(-1);
  const bool fits = values.dim() == 0 || (w.dim() == values.dim() && w.size(0) == values.size(0) &&
                                          at::is_expandable_to(w.sizes(), values.sizes()));
  if (!fits)
    throw Error(fmt::format("sample weights are {}, the values they weigh {}", shape_of(weights),
                            shape_of(values)),
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
