#pragma once

#include <vector>

#include "headway/probe/python/python_attributes.h"
#include "headway/probe/python/torch_tensor.h"
#include "headway/probe/source/source_differences.h"

namespace headway {

// Finds a difference of two tensors of PyTorch, one of shape (n, 1) and one of shape (n): it has
// the shape (n, n), and a loss made of it teaches the mean of the targets. Refers to the stacks.
class ShapeClash {
 public:
  explicit ShapeClash(PythonStacks& stacks) : attributes_(stacks), tensors_(stacks.memory()) {}

  // The line of such a difference in a running function, by the variables it has now; 0: none.
  int64_t line_in(const PythonFrame& frame, const std::vector<SourceDifference>& differences);

 private:
  bool clash(uint64_t one, uint64_t other);

  PythonAttributes attributes_;
  TorchTensors tensors_;
};

}  // namespace headway
