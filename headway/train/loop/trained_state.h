#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <string>
#include <utility>
#include <vector>

#include "headway/io/records/safetensors.h"
#include "headway/train/learn/optimizer_state.h"
#include "headway/train/loop/saved_training.h"
#include "headway/train/model/network.h"

// Inside train/: what a step changes.
namespace headway {

// Those that dropout uses on that device, by their names in checkpoints.
std::vector<std::pair<std::string, at::Generator>> random_generators(c10::Device device);

// Weights, their gradients, the optimizer and the random generators; and the copy of the weights
// that callbacks keep.
class TrainedState {
 public:
  // The trainable weights are trained, the others only saved.
  TrainedState(std::vector<NamedWeight> weights, const Optimizer& optimizer, c10::Device device);

  const std::vector<NamedWeight>& weights() const { return weights_; }
  OptimizerState& optimizer() { return optimizer_; }
  const OptimizerState& optimizer() const { return optimizer_; }
  c10::Device device() const { return device_; }
  int64_t parameter_count() const;  // of the trainable weights

  void remember_weights();
  bool recall_weights();  // false: none were remembered

  // The tensors go into `content`, the numbers into `saved`. Gradients too while
  // saved.accumulated > 0.
  void save(SavedTraining& saved, Safetensors& content) const;
  // Error names the tensor that is missing or has another shape.
  void restore(const SavedTraining& saved, const Safetensors& content);

 private:
  std::vector<NamedWeight> weights_;
  OptimizerState optimizer_;
  c10::Device device_;
  std::vector<at::Tensor> remembered_;  // one per weight, or none
};

}  // namespace headway
