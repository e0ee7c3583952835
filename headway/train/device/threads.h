#pragma once

#include <string>

#include "headway/train/model/model.h"

namespace headway {

// Fills in what is 0 and sets libtorch, BLAS and OpenMP together. `input` is for the caller, who
// starts the pipeline; 0 leaves it to the pipeline. Error when so many threads cannot be started.
ThreadCounts apply_threads(ThreadCounts wanted, bool on_gpu);

// What linear algebra runs on here, and what is wrong with it if anything: "OpenBLAS, OpenMP
// threads"; the second is a remedy or empty.
struct Blas {
  std::string name;
  std::string remedy;
};
Blas find_blas();

}  // namespace headway
