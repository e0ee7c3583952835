#pragma once

#include <string>

#include "headway/train/model.h"

namespace headway {

// Fills in what is 0 and sets libtorch, BLAS and OpenMP together. `input` is for the caller, who
// starts the pipeline; 0 leaves it to the pipeline.
ThreadCounts apply_threads(ThreadCounts wanted, bool on_gpu);

// Those that the training thread and autograd's need beside a feed: on 16 cores ResNet-50 stepped
// 1.4 times faster with 12 busy workers than with as many as there are.
int cores_beside_gpu();

// What linear algebra runs on here, and what is wrong with it if anything: "OpenBLAS, OpenMP
// threads"; the second is a remedy or empty.
struct Blas {
  std::string name;
  std::string remedy;
};
Blas find_blas();

}  // namespace headway
