#pragma once

#include <optional>
#include <string>

namespace headway {

// The libtorch this program uses.
struct LibtorchFacts {
  std::string version;              // "1.13.0"
  std::optional<std::string> cuda;  // the CUDA it was built with, "12.1"; none: for the CPU alone
  std::string why_no_gpu;           // in one line; empty when a GPU can be used
  std::string blas;                 // "OpenBLAS, OpenMP threads"
};
LibtorchFacts libtorch_facts();

}  // namespace headway
