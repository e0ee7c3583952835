#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>

#include "headway/core/element.h"
#include "headway/trace/trace.h"
#include "headway/train/loop/trained_state.h"

// Inside train/: what training would do with a pipeline that takes no time.
namespace headway {

struct Replayed {
  ReplayReading reading;
  std::string refusal;  // why the doubled batch could not be trained on; empty: it was
};

// Trains on `batch`, and on a batch twice as large, again and again for some seconds, and measures
// a step. `loss` is the forward pass and the loss. Weights, optimizer and random generators are as
// before when it returns; metrics are not.
Replayed replay(const Batch& batch, TrainedState& trained,
                const std::function<at::Tensor(Batch&)>& loss);

}  // namespace headway
