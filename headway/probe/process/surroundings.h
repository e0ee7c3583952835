#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "headway/trace/kinds.h"

namespace headway {

// The surroundings of a process, read rarely: the file systems of its open files, shared memory,
// mapped libraries.
struct Surroundings {
  std::vector<std::string> network_files{};  // "/data/a.rec (nfs)"; a few
  int64_t shm_bytes = -1, shm_free_bytes = -1;
  std::vector<std::string> cuda_libraries{};  // "libcudart.so.11.0"
  Framework framework = Framework::kNone;     // judged by mapped libraries
  bool cuda_loaded = false;                   // the driver's own library
  bool reference_blas = false;                // the plain BLAS, and no faster one
  int64_t open_files = 0, open_files_limit = 0;
  bool gpu_open = false;  // an NVIDIA device
  int64_t compiled = 0;   // executable mappings that belong to no file: XLA's, torch.compile's
};
Surroundings look_around(pid_t pid);

}  // namespace headway
