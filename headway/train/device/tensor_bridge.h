#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include "headway/core/tensor.h"

// Inside train/: Headway's tensors are libtorch's and back, without copying.
namespace headway {

Shape shape_of(const at::Tensor& tensor);
at::ScalarType torch_type(DType dtype);
DType headway_type(at::ScalarType type);  // Error for those Headway does not have

// The same memory; either keeps it alive.
at::Tensor to_torch(const Tensor& tensor);
// The same memory when it is contiguous and on the CPU, else a copy.
Tensor from_torch(const at::Tensor& tensor);

// Starts the copy and returns: on a stream of its own from page-locked memory when `device` is a
// GPU, so that it runs during the previous step. Work queued from now on waits for it.
at::Tensor upload(const at::Tensor& tensor, c10::Device device);

}  // namespace headway
