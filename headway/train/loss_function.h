#pragma once

#include <ATen/core/Tensor.h>

#include "headway/train/loss.h"

// Inside train/: how the descriptions in loss.h are computed.
namespace headway {

// The loss of a batch, one number with a gradient. `output` is what the network gave: behind its
// last activation when `last` is linear or does not matter, before it (logits) when the network
// was run without it; `last` says what is missing. `sample_weights` (N) may be undefined.
// The mean is over samples, as Keras' sum_over_batch_size: weights do not change the divisor.
at::Tensor compute_loss(const Loss& loss, const at::Tensor& target, const at::Tensor& output,
                        Activation missing, const at::Tensor& sample_weights = {});

// Does compute_loss() want the network without its last activation (stable and cheaper)?
bool wants_logits(const Loss& loss, Activation last);

}  // namespace headway
