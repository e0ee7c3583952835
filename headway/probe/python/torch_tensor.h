#pragma once

#include <cstdint>
#include <optional>

#include "headway/probe/process/memory_reader.h"
#include "headway/probe/python/live_tensor.h"

namespace headway {

// Reads tensors of PyTorch 1.9 and newer. Their layout is not known in advance: it is found from a
// tensor's pointer back to its Python object, and from sizes whose product is the number of values.
// A tensor that does not match is not read.
class TorchTensors {
 public:
  explicit TorchTensors(const MemoryReader& memory) : memory_(memory) {}

  // Of a Python object that is a Tensor or Parameter.
  std::optional<LiveTensor> of_object(uint64_t object);
  // Of a gradient; works once the layout is known.
  std::optional<LiveTensor> at(uint64_t address) const;

 private:
  std::optional<LiveTensor> read(uint64_t address, uint64_t back) const;

  const MemoryReader& memory_;
  uint64_t back_ = 0;  // offset of a tensor's pointer to its Python object; 0: not known yet
};

}  // namespace headway
