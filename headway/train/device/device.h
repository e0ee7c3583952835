#pragma once

#include <cstdint>
#include <string>

namespace headway {

// "cpu", "cuda", "cuda:1" or "auto" -> "cpu" or "cuda:<i>". Asking for a GPU that cannot be used
// is an Error with the reason; auto takes the CPU instead.
std::string choose_device(const std::string& wanted);

// Why no GPU can be used here, in one line; empty when one can.
std::string why_no_gpu();

// Its address on the PCI bus; empty for the CPU, or when CUDA does not tell it.
std::string gpu_address(const std::string& device);

// What a model may still allocate on that device.
int64_t free_memory_bytes(const std::string& device);

// Before training on `device`. For a GPU: pipelines started from now on keep batches in
// page-locked memory, so that copies run beside the computation. cuDNN chooses kernels by its own
// heuristics: for ResNet-50 on an H200 a search took 9 to 25 s per shape and found nothing faster.
void prepare_device(const std::string& device);

}  // namespace headway
