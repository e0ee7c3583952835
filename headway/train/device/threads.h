#pragma once

#include <string>

#include "headway/train/model/model.h"

namespace headway {

// Sets the threads of libtorch, BLAS and OpenMP. Returns `wanted` with intra_op and inter_op chosen
// where they were not set; `input` is the pipeline's. Error when that many threads cannot be
// started.
ThreadCounts apply_threads(ThreadCounts wanted, bool on_gpu);

// The library that computes matrix products here.
struct Blas {
  std::string name;    // "OpenBLAS, OpenMP threads"
  std::string remedy;  // when it is slow, why and what to do; else empty
};
Blas find_blas();

}  // namespace headway
