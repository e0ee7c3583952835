#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "headway/core/tensor.h"

namespace headway::bench {

// The same training written by hand against libtorch, as one who knows it would: modules of
// torch::nn, torch::optim::Adam, batches by index, channels-last where that is faster.
class RawTraining {
 public:
  // `model`: "dense", "conv" or "vgg16". x is N x 784 or N x H x W x 3, y class numbers.
  RawTraining(const std::string& model, const Tensor& x, const Tensor& y, int64_t batch,
              bool channels_last);
  ~RawTraining();

  void step();  // one batch; a new order when the data is spent
  double loss() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace headway::bench
