#include "headway/train/device/threads.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <malloc.h>

#include <algorithm>
#include <cmath>

#include "headway/core/limits.h"
#include "headway/core/thread_limit.h"

namespace headway {
namespace {

// A function of the BLAS that was loaded, if it has one of that name.
template <typename F>
F* blas_function(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_DEFAULT, name));
}

// Every step frees and allocates the same large buffers. If they were returned to the kernel each
// time, they would be mapped and cleared again.
void keep_freed_memory() {
  constexpr int kLargest = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, kLargest);
  mallopt(M_TRIM_THRESHOLD, kLargest);
}

// Arithmetic on denormals is a hundred times slower. TensorFlow flushes them too. OpenMP's threads
// inherit the setting from the thread that starts them.
void flush_denormals() { at::globalContext().setFlushDenormal(true); }

}  // namespace

// Besides the ones inside an operation: libtorch's thread of the backward pass and its pool between
// operations, our recorder, our watchdog, and one worker of the pipeline, which needs no more.
constexpr int kOtherThreads = 5;

// Address space: a stack and a malloc heap per thread, and the buffers of BLAS and oneDNN. With
// less than this libtorch 1.13 and OpenBLAS 0.3.21 hung or crashed.
constexpr int64_t kAddressesPerThread = (8 + 64) << 20, kAddresses = 512 << 20;

ThreadCounts apply_threads(ThreadCounts wanted, bool on_gpu) {
  const int cores = std::max(1, static_cast<int>(std::ceil(read_limits().cpus)));
  ThreadCounts chosen = wanted;
  const int intra_op = wanted.intra_op.value_or(on_gpu ? 1 : cores);
  const int inter_op =
      wanted.inter_op.value_or(1);  // one training thread: nothing runs in parallel
  chosen.intra_op = intra_op;
  chosen.inter_op = inter_op;
  const int threads = intra_op + inter_op + kOtherThreads;
  require_threads(threads, "training");
  require_addresses(kAddresses + threads * kAddressesPerThread, "training");
  if (!on_gpu) keep_freed_memory();
  flush_denormals();
  at::set_num_threads(intra_op);
  static bool inter_op_set = false;  // libtorch accepts it once, before its first use
  if (!inter_op_set) {
    inter_op_set = true;
    at::set_num_interop_threads(inter_op);
  }
  if (auto* set = blas_function<void(int)>("openblas_set_num_threads")) set(intra_op);
  return chosen;
}

Blas find_blas() {
  if (blas_function<void()>("mkl_get_version")) return {"MKL", ""};
  auto* parallel = blas_function<int()>("openblas_get_parallel");
  if (!parallel) {
    return {"a BLAS without threads",
            "matrix products run up to 20 times slower: apt-get install libopenblas0-openmp"};
  }
  if (parallel() == 2) return {"OpenBLAS, OpenMP threads", ""};
  return {
      "OpenBLAS, its own threads",
      "they compete with libtorch's threads for the cores: apt-get install libopenblas0-openmp and "
      "choose it with update-alternatives --config libblas.so.3-x86_64-linux-gnu"};
}

}  // namespace headway
