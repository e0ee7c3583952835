#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "headway/probe/python/python_attributes.h"
#include "headway/probe/python/tensorflow_resource.h"
#include "headway/probe/python/torch_tensor.h"
#include "headway/trace/numbers.h"
#include "headway/trace/outside.h"

namespace headway {

// The model and optimizer of a running program, read from the objects themselves: which weights
// exist, which of them an optimizer holds, whether they change and get gradients, and the learning
// rate. All of that for PyTorch; all but the gradients for TensorFlow and for Keras on it; for JAX
// only whether the arrays of its parameters are ever replaced. Objects that no variable in the
// training thread's frames holds are not found.
//
// For one process. Not for several threads.
class LiveModel {
 public:
  explicit LiveModel(PythonStacks& stacks)
      : attributes_(stacks),
        torch_(stacks.memory()),
        tensorflow_(stacks.memory()),
        values_(stacks.memory()),
        memory_(stacks.memory()) {}

  // `step`: steps made since the watch began.
  void look(const PythonThread& thread, double now_s, int64_t step);

  const SeenModel& seen() const { return seen_; }
  const std::vector<WeightFacts>& weights() const { return facts_; }
  const std::vector<NumbersReading>& numbers() const { return numbers_; }

 private:
  enum class Kind : uint8_t { kOther, kModule, kLayer, kOptimizer, kVariable, kTrainer };
  struct NamedWeight {
    uint64_t object = 0;
    std::string name{};
    bool embedding = false;  // looked up by its rows: no kernel
  };
  struct Weight {
    std::vector<double> first{};  // some of its values when it was first seen
    uint32_t first_version = 0;
    bool in_model = false, in_optimizer = false;
    bool read = false, moved = false, got_gradient = false;
  };
  struct Found {
    std::set<uint64_t> modules{}, optimizers{};  // of Keras: layers
    std::vector<NamedWeight> weights{};          // of modules, in their order
    std::set<uint64_t> held{};                   // by optimizers
    std::set<uint64_t> arrays{};                 // of JAX
    int64_t hooks = 0;                           // of the modules
    uint64_t input = 0;                          // the input of the first layer with weights
    PythonAttributes::Named numpy_arrays{};      // of the user's
  };

  Kind kind_of(uint64_t object);
  Found find(const PythonThread& thread);
  void find_in(const PythonFrame& frame, Found& found);
  void find_input(const PythonFrame& frame, Found& found);
  void list_weights(uint64_t module, const std::string& path, int depth, Found& found);
  bool is_variable(uint64_t object);
  bool is_trainable(uint64_t variable);
  std::optional<LiveTensor> value_of(uint64_t variable);
  void list_layer(uint64_t layer, const std::string& path, int depth, Found& found);
  void list_variables(uint64_t object, const std::string& name, Found& found);
  void add_variable(uint64_t variable, const std::string& name, bool embedding, Found& found);
  void list_arrays(uint64_t object, int depth, std::set<uint64_t>& arrays);
  void read_optimizer(uint64_t optimizer, Found& found);
  bool read_keras_optimizer(uint64_t optimizer, Found& found);  // false: it is none
  void note_rate(std::optional<double> rate);
  std::optional<LiveTensor> tensor_of(uint64_t object);
  void read_weights(const Found& found, NumbersReading& sample);
  void read_input(const Found& found, NumbersReading& sample);
  void read_arrays(const Found& found);
  void leave_out_cleared(NumbersReading& sample);
  void count(int64_t step);
  void count_hooks(const Found& found);

  PythonAttributes attributes_;
  TorchTensors torch_;
  TensorflowResources tensorflow_;
  TensorValues values_;
  const MemoryReader& memory_;
  std::map<uint64_t, Kind> kinds_;      // keys: addresses of types
  std::map<uint64_t, Weight> tracked_;  // keys: addresses of their objects
  std::vector<uint64_t> order_;
  std::vector<bool> had_gradient_;  // whether it had one that is not 0, in this order
  std::set<uint64_t> arrays_;       // of JAX, when they were first seen
  int64_t first_step_ = -1;
  size_t most_modules_ = 0;  // the largest number seen at once
  double next_s_ = 0;
  SeenModel seen_;
  std::vector<WeightFacts> facts_;
  std::vector<NumbersReading> numbers_;
};

}  // namespace headway
