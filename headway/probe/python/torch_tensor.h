#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "headway/probe/process/memory_reader.h"

namespace headway {

// A tensor of PyTorch as it lies in the memory of another process.
struct TorchTensor {
  std::vector<int64_t> sizes{};
  int64_t values = 0;     // how many
  int type = 0;           // PyTorch's number of it: 6 is float32
  uint64_t data = 0;      // where they lie; of a GPU's tensor not to be read
  uint64_t gradient = 0;  // where its gradient's tensor lies; 0: it has none
  uint32_t version = 0;   // goes up with each change in place

  bool is_real() const;
};

// Reads tensors of PyTorch 1.9 and newer. Their layout is not known beforehand: it is found by a
// tensor's pointer back to its Python object and by sizes whose product is the number of values. A
// tensor that does not fit is none.
class TorchTensors {
 public:
  explicit TorchTensors(const MemoryReader& memory) : memory_(memory) {}

  // Of a Python object: a Tensor or Parameter.
  std::optional<TorchTensor> of_object(uint64_t object);
  // Of a gradient; once the layout is known.
  std::optional<TorchTensor> at(uint64_t address) const;
  // Some of its values, from all parts of it: at most this many. None when they cannot be read.
  std::vector<double> values_of(const TorchTensor& tensor, int64_t most) const;
  // Some values of its first rows, one row after another, equally many of each: do units differ?
  bool rows_are_equal(const TorchTensor& tensor) const;

 private:
  std::vector<double> stretch(const TorchTensor& tensor, int64_t from, int64_t count) const;
  std::optional<TorchTensor> read(uint64_t address, uint64_t back) const;

  const MemoryReader& memory_;
  uint64_t back_ = 0;  // where a tensor points back to its object; 0: not known yet
};

}  // namespace headway
