#pragma once

#include <string>

#include "headway/train/model/model.h"

namespace headway {

// Sets libtorch, BLAS and OpenMP together. Gives back `wanted` with intra_op and inter_op chosen
// where they were not set; `input` is the pipeline's. Error when so many threads cannot be started.
ThreadCounts apply_threads(ThreadCounts wanted, bool on_gpu);

// What linear algebra runs on here, and what is wrong with it if anything: "OpenBLAS, OpenMP
// threads"; the second is a remedy or empty.
struct Blas {
  std::string name;
  std::string remedy;
};
Blas find_blas();

}  // namespace headway
