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

// A step frees and takes the same large buffers again and again. Given back to the kernel each
// time they would be cleared and mapped anew.
void keep_freed_memory() {
  constexpr int kLargest = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, kLargest);
  mallopt(M_TRIM_THRESHOLD, kLargest);
}

// Numbers too small to matter cost a hundred times as much as others. TensorFlow flushes them too.
// OpenMP's threads take this over from the one that starts them.
void flush_denormals() { at::globalContext().setFlushDenormal(true); }

}  // namespace

// Besides the ones inside an operation: libtorch's thread of the backward pass and its pool between
// operations, our recorder, our watchdog, and one worker of the feed, which gets by with one.
constexpr int kOtherThreads = 5;

// A stack and a heap of malloc's for each thread, the buffers of BLAS and oneDNN for all. With less
// than this (libtorch 1.13, OpenBLAS 0.3.21) they hung or crashed.
constexpr int64_t kAddressesPerThread = (8 + 64) << 20, kAddresses = 512 << 20;

ThreadCounts apply_threads(ThreadCounts wanted, bool on_gpu) {
  const int cores = std::max(1, static_cast<int>(std::ceil(read_limits().cpus)));
  ThreadCounts chosen = wanted;
  const int intra_op = wanted.intra_op.value_or(on_gpu ? 1 : cores);
  const int inter_op =
      wanted.inter_op.value_or(1);  // one training thread: nothing runs side by side
  chosen.intra_op = intra_op;
  chosen.inter_op = inter_op;
  const int threads = intra_op + inter_op + kOtherThreads;
  require_threads(threads, "training");
  require_addresses(kAddresses + threads * kAddressesPerThread, "training");
  if (!on_gpu) keep_freed_memory();
  flush_denormals();
  at::set_num_threads(intra_op);
  static bool inter_op_set = false;  // libtorch takes it once, before its first use
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
  return {"OpenBLAS, threads of its own",
          "they fight with libtorch's for the cores: apt-get install libopenblas0-openmp and "
          "choose it with update-alternatives --config libblas.so.3-x86_64-linux-gnu"};
}

}  // namespace headway
