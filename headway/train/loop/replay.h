#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>

#include "headway/core/element.h"
#include "headway/trace/trace.h"
#include "headway/train/loop/trained_state.h"

// Inside train/: how fast training would be with a pipeline that takes no time.
namespace headway {

struct Replayed {
  ReplayReading reading;
  std::string refusal;  // why the doubled batch could not be trained on; empty: it could
};

// Trains on `batch`, and on a batch twice as large, repeatedly for some seconds, and measures a
// step. `loss` is the forward pass and the loss. Weights, optimizer and random generators are
// restored at the end; metrics are not.
Replayed replay(const Batch& batch, TrainedState& trained,
                const std::function<at::Tensor(Batch&)>& loss);

}  // namespace headway
