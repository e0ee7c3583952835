#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headway/train/learn/optimizer.h"
#include "headway/train/model/network.h"

// Inside train/: how much memory a model needs, computed before it is allocated.
namespace headway {

struct MemoryPlan {
  int64_t parameters = 0, trainable = 0;
  int64_t weights_bytes = 0, gradients_bytes = 0, optimizer_bytes = 0;
  int64_t activations_bytes = 0;  // of a batch, kept for the backward pass

  int64_t state_bytes() const { return weights_bytes + gradients_bytes + optimizer_bytes; }
};

MemoryPlan plan_memory(const std::vector<LayerPlan>& layers, const Optimizer* optimizer,
                       int64_t value_bytes, int64_t batch_size);

// Error, with the sum, when weights, gradients and optimizer exceed `free_bytes`.
void refuse_too_large(const std::string& model, const MemoryPlan& plan, const std::string& device,
                      int64_t free_bytes);

// Keras' table.
std::string summary_table(const std::string& model, const std::vector<LayerPlan>& layers,
                          const MemoryPlan& memory, const std::string& optimizer,
                          int64_t batch_size);

}  // namespace headway
