#pragma once

#include <vector>

#include "headway/probe/python/python_attributes.h"
#include "headway/probe/python/torch_tensor.h"
#include "headway/probe/source/source_differences.h"

namespace headway {

// Finds a difference of two PyTorch tensors with the shapes (n, 1) and (n): its shape is (n, n),
// and a loss made from it teaches only the mean of the labels. Refers to the stacks.
class ShapeClash {
 public:
  explicit ShapeClash(PythonStacks& stacks) : attributes_(stacks), tensors_(stacks.memory()) {}

  // The line of such a difference in a running function, given its variables now; 0: none.
  int64_t line_in(const PythonFrame& frame, const std::vector<SourceDifference>& differences);

 private:
  bool clash(uint64_t one, uint64_t other);

  PythonAttributes attributes_;
  TorchTensors tensors_;
};

}  // namespace headway
