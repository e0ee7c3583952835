#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "headway/trace/kinds.h"

namespace headway {

// What a process stands on, looked at seldom: the file systems of its open files, shared memory,
// libraries it has mapped.
struct Surroundings {
  std::vector<std::string> network_files{};  // "/data/a.rec (nfs)"; a few
  int64_t shm_bytes = -1, shm_free_bytes = -1;
  std::vector<std::string> cuda_libraries{};  // "libcudart.so.11.0"
  Framework framework = Framework::kNone;     // by what is mapped
  bool cuda_loaded = false;                   // the driver's own library
  bool reference_blas = false;                // the plain BLAS, and no faster one
  int64_t open_files = 0, open_files_limit = 0;
  bool gpu_open = false;  // a device of NVIDIA's
  int64_t compiled = 0;   // executable mappings that no library brought: XLA's, torch.compile's
};
Surroundings look_around(pid_t pid);

}  // namespace headway
