#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "headway/probe/python/live_tensor.h"

namespace headway {

// Reads the values of TensorFlow 2's variables. The Python object of a variable holds a handle
// (`_handle`, an EagerTensor); behind it stand, each a pointer away, the handle's tensor, a
// description of the resource, the resource, and its tensor. Where in each of them the next pointer
// stands is not known in advance: it is searched for once, by what a tensor looks like (its sizes,
// whose product is its number of values, and its type), and remembered. Without a match nothing is
// read.
//
// Not for several threads.
class TensorflowResources {
 public:
  explicit TensorflowResources(const MemoryReader& memory) : memory_(memory) {}

  // The present value of the variable with this handle. A variable without dimensions is only read
  // once another one showed the way.
  std::optional<LiveTensor> value_behind(uint64_t handle);

 private:
  // Offsets, in the order in which they are followed.
  struct Way {
    uint64_t handle = 0, handles_tensor = 0, resource = 0, resources_tensor = 0;
  };
  uint64_t find_way(uint64_t handle);
  uint64_t follow_way(uint64_t handle) const;
  uint64_t resource_behind(uint64_t buffer, Way& way, int& reads) const;

  const MemoryReader& memory_;
  std::optional<Way> way_;
  int searches_ = 0;
  std::map<uint64_t, uint64_t> tensors_;  // of handles: the address of their resource's tensor
};

}  // namespace headway
