#include "headway/train/learn/loss_function.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "headway/core/error.h"
#include "headway/train/learn/labels.h"

namespace headway {
namespace {

using Kind = Loss::Kind;

constexpr double kEpsilon = 1e-7;  // Keras' distance of a probability from 0 and 1
// libtorch ignores samples of this class; none has it.
constexpr int64_t kNoClass = -(int64_t{1} << 40);

at::Tensor clipped(const at::Tensor& probabilities) {
  return probabilities.clamp(kEpsilon, 1 - kEpsilon);
}

at::Tensor binary(const Loss& loss, const at::Tensor& labels, const at::Tensor& output, bool logits,
                  at::Reduction::Reduction reduction) {
  const double s = loss.label_smoothing;
  const at::Tensor t = s > 0 ? labels * (1 - s) + s / 2 : labels;
  if (logits) return at::binary_cross_entropy_with_logits(output, t, {}, {}, reduction);
  // Not at::binary_cross_entropy: it throws where the loss should become NaN.
  const at::Tensor p = clipped(output);
  const at::Tensor values = -(t * p.log() + (1 - t) * (1 - p).log());
  return reduction == at::Reduction::Mean ? values.mean() : values;
}

at::Tensor categorical(const Loss& loss, const at::Tensor& labels, const at::Tensor& output,
                       bool logits) {
  const double s = loss.label_smoothing;
  const at::Tensor t = s > 0 ? labels * (1 - s) + s / double(output.size(-1)) : labels;
  const at::Tensor log_p =
      logits ? output.log_softmax(-1) : clipped(output / output.sum(-1, /*keepdim=*/true)).log();
  return -(t * log_p).sum(-1);
}

at::Tensor sparse(const Loss& loss, const at::Tensor& labels, const at::Tensor& output, bool logits,
                  at::Reduction::Reduction reduction) {
  // The softmax inside normalises probabilities that do not sum to one, as in Keras.
  const at::Tensor scores = logits ? output : clipped(output).log();
  const at::Tensor values =
      at::cross_entropy_loss(scores.reshape({-1, output.size(-1)}), labels.reshape({-1}), {},
                             reduction, kNoClass, loss.label_smoothing);
  return reduction == at::Reduction::Mean ? values : values.view(labels.sizes());
}

// One value per sample (and step, and pixel), or with Reduction::Mean their mean at once.
at::Tensor values_of(const Loss& loss, const at::Tensor& labels, const at::Tensor& output,
                     bool logits, at::Reduction::Reduction reduction) {
  const auto over_last = [&](const at::Tensor& values) {
    return reduction == at::Reduction::Mean ? values : values.mean(-1);
  };
  switch (loss.kind) {
    case Kind::kMeanSquaredError: return over_last(at::mse_loss(output, labels, reduction));
    case Kind::kMeanAbsoluteError: return over_last(at::l1_loss(output, labels, reduction));
    case Kind::kHuber: return over_last(at::huber_loss(output, labels, reduction, loss.delta));
    case Kind::kBinaryCrossentropy:
      return over_last(binary(loss, labels, output, logits, reduction));
    case Kind::kCategoricalCrossentropy: return categorical(loss, labels, output, logits);
    case Kind::kSparseCategoricalCrossentropy:
      return sparse(loss, labels, output, logits, reduction);
    case Kind::kCustom: return loss.custom(labels, output);
  }
  return {};
}

Aligned aligned(const Loss& loss, const at::Tensor& labels, const at::Tensor& output) {
  switch (loss.kind) {
    case Kind::kCustom: return {labels, output};
    case Kind::kSparseCategoricalCrossentropy: return align_classes(labels, output);
    case Kind::kCategoricalCrossentropy: return align_one_hot(labels, output);
    default: return align_values(labels, output);
  }
}

}  // namespace

bool wants_logits(const Loss& loss, Activation last) {
  if (loss.from_logits) return false;
  switch (loss.kind) {
    case Kind::kBinaryCrossentropy: return last == Activation::kSigmoid;
    case Kind::kCategoricalCrossentropy:
    case Kind::kSparseCategoricalCrossentropy: return last == Activation::kSoftmax;
    default: return false;
  }
}

at::Tensor compute_loss(const Loss& loss, const at::Tensor& labels, const at::Tensor& output,
                        Activation missing, const at::Tensor& sample_weights) {
  const bool fused = wants_logits(loss, missing);
  const auto [t, y] =
      aligned(loss, labels, full_precision(fused ? output : activated(output, missing)));
  const bool logits = fused || loss.from_logits;
  if (!sample_weights.defined()) return values_of(loss, t, y, logits, at::Reduction::Mean).mean();
  const at::Tensor values = values_of(loss, t, y, logits, at::Reduction::None);
  return (values * align_weights(sample_weights, values)).mean();
}

void check_loss(const at::Tensor& loss) {
  if (!loss.defined() || loss.numel() != 1) {
    throw Error(fmt::format("the loss of a batch has {} values, but must have one",
                            loss.defined() ? loss.numel() : 0),
                "return one number from the loss function, such as the mean: loss.mean()");
  }
  if (!loss.requires_grad()) {
    throw Error("the loss depends on no weight, so it has no gradient",
                "compute it from the model's output, without detach(), .data or torch::NoGradGuard "
                "in between",
                "gradient-not-connected");
  }
}

}  // namespace headway
