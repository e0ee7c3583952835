#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "headway/core/element.h"

// Inside train/: losses that are still on a GPU.
namespace headway {

struct FetchedLoss {
  double value = 0;
  Batch batch;
  int64_t step = 0, samples = 0;
};

// Fetching a loss waits for the GPU, so several are fetched at a time. Their batches are kept until
// then, to find the bad sample when a loss is not finite.
class PendingLosses {
 public:
  void add(at::Tensor loss, Batch batch, int64_t step, int64_t samples);
  bool full() const;
  std::vector<FetchedLoss> fetch();  // all of them, oldest first; none are left

 private:
  std::vector<at::Tensor> losses_;
  std::vector<FetchedLoss> steps_;  // their values are not known yet
};

}  // namespace headway
