#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "headway/probe/python/live_tensor.h"
#include "headway/probe/python/python_attributes.h"

namespace headway {

// Reads variables of TensorFlow 2, also those of Keras on TensorFlow. A variable's Python object
// holds a handle; behind it stand, each a pointer away, the handle's tensor, a description of the
// resource, the resource, and its tensor. Where in each of them the next pointer stands is not
// known in advance: it is searched for once, by what a tensor looks like (its sizes, whose product
// is its number of values, and its type), and remembered. Without a match nothing is read.
//
// Refers to attributes and memory. Not for several threads.
class TensorflowVariables {
 public:
  TensorflowVariables(PythonAttributes& attributes, const MemoryReader& memory)
      : attributes_(attributes), memory_(memory) {}

  bool is_variable(uint64_t object);
  bool is_trainable(uint64_t variable);
  // Its present value. A variable without dimensions is only read once another showed the way.
  std::optional<LiveTensor> value_of(uint64_t variable);

 private:
  // Offsets, in the order in which they are followed.
  struct Way {
    uint64_t handle = 0, handles_tensor = 0, resource = 0, resources_tensor = 0;
  };
  uint64_t handle_of(uint64_t variable);
  std::optional<uint64_t> find_way(uint64_t handle);
  uint64_t follow_way(uint64_t handle) const;
  std::optional<uint64_t> resource_behind(uint64_t buffer, Way& way, int& reads) const;

  PythonAttributes& attributes_;
  const MemoryReader& memory_;
  std::optional<Way> way_;
  int searches_ = 0;
  std::map<uint64_t, uint64_t> tensors_;  // of variables: the address of their resource's tensor
};

}  // namespace headway
