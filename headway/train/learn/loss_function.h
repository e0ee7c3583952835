#pragma once

#include <ATen/core/Tensor.h>

#include "headway/train/learn/loss.h"

// Inside train/: how the descriptions in loss.h are computed.
namespace headway {

// The loss of a batch, one number with a gradient. `output` is the network's, in Keras' order
// (classes last). `missing` is the activation that was left out of it: the network's last one when
// wants_logits() asked for that, else linear.
// `sample_weights` may be undefined, N, or one per value of the loss (N x T for sequences). The
// mean is Keras' sum_over_batch_size: weights do not change the divisor. Half floats are computed
// in float32. Throws Error with the remedy when the shapes do not fit.
at::Tensor compute_loss(const Loss& loss, const at::Tensor& labels, const at::Tensor& output,
                        Activation missing, const at::Tensor& sample_weights = {});

// Does compute_loss() want the network's output without its last activation? Numerically stable and
// cheaper.
bool wants_logits(const Loss& loss, Activation last);

// Error unless `loss`, which may be the user's own, is one number with a gradient.
void check_loss(const at::Tensor& loss);

}  // namespace headway
