#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "headway/probe/process/memory_reader.h"

namespace headway {

// A PyTorch tensor in the memory of another process.
struct TorchTensor {
  std::vector<int64_t> sizes{};
  int64_t values = 0;     // number of values
  int type = 0;           // PyTorch's number of the type: 6 is float32
  uint64_t data = 0;      // address of the values; unreadable if on a GPU
  uint64_t gradient = 0;  // address of the gradient's tensor; 0: none
  uint32_t version = 0;   // grows with each change in place

  bool is_real() const;
};

// Reads tensors of PyTorch 1.9 and newer. Their layout is not known in advance: it is found from a
// tensor's pointer back to its Python object, and from sizes whose product is the number of values.
// A tensor that does not match is not read.
class TorchTensors {
 public:
  explicit TorchTensors(const MemoryReader& memory) : memory_(memory) {}

  // Of a Python object that is a Tensor or Parameter.
  std::optional<TorchTensor> of_object(uint64_t object);
  // Of a gradient; works once the layout is known.
  std::optional<TorchTensor> at(uint64_t address) const;
  // Some of its values, spread over all of it: at most `most`. Empty if they cannot be read.
  std::vector<double> values_of(const TorchTensor& tensor, int64_t most) const;
  // Compares some values of its first rows, equally many of each: are all units equal?
  bool rows_are_equal(const TorchTensor& tensor) const;

 private:
  std::vector<double> stretch(const TorchTensor& tensor, int64_t from, int64_t count) const;
  std::optional<TorchTensor> read(uint64_t address, uint64_t back) const;

  const MemoryReader& memory_;
  uint64_t back_ = 0;  // offset of a tensor's pointer to its Python object; 0: not known yet
};

}  // namespace headway
