#pragma once

#include <string>
#include <vector>

#include "headway/check/facts.h"

namespace headway {

// Copies of CUDA's runtime, cuBLAS and cuDNN in the order in which a program that asks for them by
// name finds them: LD_LIBRARY_PATH, pip's nvidia-* packages, Conda, the system.
std::vector<CudaLibrary> find_cuda_libraries(const PythonFacts& python);

// "libcudnn.so.9.1.0" -> "9.1.0"; empty: the name says nothing.
std::string version_in_name(const std::string& file);

}  // namespace headway
