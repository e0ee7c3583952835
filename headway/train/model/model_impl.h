#pragma once

#include <c10/core/Device.h>

#include <optional>
#include <string>
#include <vector>

#include "headway/train/learn/metric_state.h"
#include "headway/train/loop/training_view.h"
#include "headway/train/model/memory_plan.h"
#include "headway/train/model/model.h"
#include "headway/train/model/network.h"

// Inside train/: what a Model is made of.
namespace headway {

// The tensors of a batch, on the device.
struct Sample {
  at::Tensor x, y, weights;  // y and weights may be undefined
};

struct Model::Impl {
  Impl(std::vector<Layer> layers, ModelOptions options);

  const std::vector<Layer> layers;
  const ModelOptions options;
  const std::string device_name;
  const c10::Device device;
  std::optional<CompileOptions> compiled;
  std::vector<LayerPlan> plan;     // once the input's shape is known
  std::optional<Network> network;  // once built

  // Shapes only, when the layers alone tell them.
  void plan_if_possible();
  void build(const Shape& input);
  void build_for(const Batch& batch, FieldNames fields);
  Network& built_network();
  const CompileOptions& compiled_options(const char* verb) const;
  MemoryPlan memory(int64_t batch_size) const;
  std::string describe() const;
  int64_t value_bytes() const { return size_of(options.dtype); }
  NamedWeight* find(const std::string& name);

  // Checks labels and moves everything to the device.
  Sample sample_of(const Batch& batch, const FieldNames& fields, int64_t step) const;
  Logs evaluate(const Dataset& dataset, const EvaluateOptions& options);
};

// The names, with empty ones chosen from the batch.
FieldNames resolve_fields(FieldNames fields, const Batch& batch, bool with_label);

}  // namespace headway
