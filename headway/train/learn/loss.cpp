#include "headway/train/learn/loss.h"

#include <fmt/format.h>

#include "headway/core/error.h"

namespace headway {
namespace {

Loss crossentropy(Loss::Kind kind, const CrossentropyOptions& o) {
  if (o.label_smoothing < 0 || o.label_smoothing > 1)
    throw Error(fmt::format("the loss has an invalid label_smoothing of {:g}", o.label_smoothing),
                "give a value from 0 (none) to 1");
  return {.kind = kind, .from_logits = o.from_logits, .label_smoothing = o.label_smoothing};
}

bool is_crossentropy(Loss::Kind kind) {
  return kind == Loss::Kind::kBinaryCrossentropy || kind == Loss::Kind::kCategoricalCrossentropy ||
         kind == Loss::Kind::kSparseCategoricalCrossentropy;
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
    case Loss::Kind::kMeanSquaredError: return "mean_squared_error";
    case Loss::Kind::kMeanAbsoluteError: return "mean_absolute_error";
    case Loss::Kind::kHuber: return "huber";
    case Loss::Kind::kBinaryCrossentropy: return "binary_crossentropy";
    case Loss::Kind::kCategoricalCrossentropy: return "categorical_crossentropy";
    case Loss::Kind::kSparseCategoricalCrossentropy: return "sparse_categorical_crossentropy";
    case Loss::Kind::kCustom: return "custom";
  }
  return "";
}

void Loss::check_fits(Activation last) const {
  if (!is_crossentropy(kind) || from_logits != gives_probabilities(last)) return;
  const char* activation = kind == Loss::Kind::kBinaryCrossentropy ? "sigmoid" : "softmax";
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

Loss MeanSquaredError() { return {.kind = Loss::Kind::kMeanSquaredError}; }
Loss MeanAbsoluteError() { return {.kind = Loss::Kind::kMeanAbsoluteError}; }

Loss Huber(double delta) {
  if (!(delta > 0))
    throw Error(fmt::format("Huber: invalid delta {:g}", delta), "delta must be greater than 0");
  return {.kind = Loss::Kind::kHuber, .delta = delta};
}

Loss BinaryCrossentropy(CrossentropyOptions options) {
  return crossentropy(Loss::Kind::kBinaryCrossentropy, options);
}
Loss CategoricalCrossentropy(CrossentropyOptions options) {
  return crossentropy(Loss::Kind::kCategoricalCrossentropy, options);
}
Loss SparseCategoricalCrossentropy(CrossentropyOptions options) {
  return crossentropy(Loss::Kind::kSparseCategoricalCrossentropy, options);
}

}  // namespace headway
