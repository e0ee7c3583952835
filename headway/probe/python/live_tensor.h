#pragma once

#include <cstdint>
#include <vector>

#include "headway/probe/process/memory_reader.h"

namespace headway {

enum class NumberType : uint8_t { kOther, kFloat16, kBFloat16, kFloat32, kFloat64 };
uint64_t width_of(NumberType type);  // in bytes

// A tensor of a framework, in the memory of another process.
struct LiveTensor {
  std::vector<int64_t> sizes{};
  int64_t values = 0;  // number of values
  NumberType type = NumberType::kOther;
  uint64_t data = 0;        // address of the values; unreadable if on a GPU
  uint64_t gradient = 0;    // of PyTorch: address of the gradient's tensor; 0: none
  uint32_t version = 0;     // of PyTorch: grows with each change in place
  bool units_last = false;  // a kernel's units are its last dimension (Keras), not its first

  bool is_real() const { return type != NumberType::kOther; }
  bool is_kernel() const { return sizes.size() >= 2; }
  int64_t units() const { return sizes.empty() ? 0 : units_last ? sizes.back() : sizes.front(); }
};

// Reads the values of such tensors.
class TensorValues {
 public:
  explicit TensorValues(const MemoryReader& memory) : memory_(memory) {}

  // Some values, spread over all of the tensor: at most `most`. Empty if they cannot be read.
  std::vector<double> some_of(const LiveTensor& tensor, int64_t most) const;
  // Compares some weights of the first units: are all of them equal?
  bool units_are_equal(const LiveTensor& kernel) const;

 private:
  std::vector<double> stretch(const LiveTensor& tensor, int64_t from, int64_t count) const;

  const MemoryReader& memory_;
};

}  // namespace headway
