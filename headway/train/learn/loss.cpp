#include "headway/train/learn/loss.h"

#include <fmt/format.h>

#include "headway/core/error.h"

namespace headway {
namespace {

using Kind = Loss::Kind;

Loss crossentropy(Kind kind, const CrossentropyOptions& o) {
  if (o.label_smoothing < 0 || o.label_smoothing > 1)
    throw Error(fmt::format("the loss has an invalid label_smoothing of {:g}", o.label_smoothing),
                "give a value from 0 (none) to 1");
  return {.kind = kind, .from_logits = o.from_logits, .label_smoothing = o.label_smoothing};
}

bool is_crossentropy(Kind kind) {
  return kind == Kind::kBinaryCrossentropy || kind == Kind::kCategoricalCrossentropy ||
         kind == Kind::kSparseCategoricalCrossentropy;
}

bool gives_probabilities(Activation last) {
  return last.kind() == Activation::kSoftmax || last.kind() == Activation::kSigmoid;
}

std::string end_of(Activation last) {
  if (last == Activation()) return "without an activation";
  return fmt::format("in {}", last.name());
}

}  // namespace

std::string Loss::name() const {
  switch (kind) {
    case Kind::kMeanSquaredError: return "mean_squared_error";
    case Kind::kMeanAbsoluteError: return "mean_absolute_error";
    case Kind::kHuber: return "huber";
    case Kind::kBinaryCrossentropy: return "binary_crossentropy";
    case Kind::kCategoricalCrossentropy: return "categorical_crossentropy";
    case Kind::kSparseCategoricalCrossentropy: return "sparse_categorical_crossentropy";
    case Kind::kCustom: return "custom";
  }
  return "";
}

void Loss::check_fits(Activation last) const {
  if (!is_crossentropy(kind) || from_logits != gives_probabilities(last)) return;
  const char* activation = kind == Kind::kBinaryCrossentropy ? "sigmoid" : "softmax";
  if (from_logits)
    throw Error(
        fmt::format("{} has from_logits = true, but the model ends {}, which would be applied "
                    "twice",
                    name(), end_of(last)),
        fmt::format("remove the last {}, or remove from_logits", last.name()),
        "loss-output-mismatch");
  throw Error(fmt::format("{} expects probabilities, but the model ends {}", name(), end_of(last)),
              fmt::format("end the model in .activation = \"{}\", or give the loss "
                          "{{.from_logits = true}}",
                          activation),
              "loss-output-mismatch");
}

Loss MeanSquaredError() { return {.kind = Kind::kMeanSquaredError}; }
Loss MeanAbsoluteError() { return {.kind = Kind::kMeanAbsoluteError}; }

Loss Huber(double delta) {
  if (!(delta > 0))
    throw Error(fmt::format("Huber: invalid delta {:g}", delta), "delta must be greater than 0");
  return {.kind = Kind::kHuber, .delta = delta};
}

Loss BinaryCrossentropy(CrossentropyOptions options) {
  return crossentropy(Kind::kBinaryCrossentropy, options);
}
Loss CategoricalCrossentropy(CrossentropyOptions options) {
  return crossentropy(Kind::kCategoricalCrossentropy, options);
}
Loss SparseCategoricalCrossentropy(CrossentropyOptions options) {
  return crossentropy(Kind::kSparseCategoricalCrossentropy, options);
}

}  // namespace headway
