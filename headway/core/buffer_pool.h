#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "headway/core/sync.h"
#include "headway/core/tensor.h"

namespace headway {

// Where the pool's memory comes from. Whoever feeds a GPU sets page-locked memory, from which
// copies run by themselves; pools made from then on use it.
struct LargeMemory {
  void* (*allocate)(size_t size_bytes);  // null when there is none
  void (*release)(void* data);
};
void set_large_memory(LargeMemory memory);
LargeMemory ordinary_memory();  // huge pages where the kernel gives them

// Recycles large buffers: a fresh 38 MB batch costs 20 ms of page faults, a recycled one nothing.
// Tensors made here give their memory back when the last reference goes, also after the pool's
// owner is gone. Thread-safe.
class BufferPool : public std::enable_shared_from_this<BufferPool> {
 public:
  static std::shared_ptr<BufferPool> create() {
    return std::shared_ptr<BufferPool>(new BufferPool);
  }
  ~BufferPool();

  Tensor tensor(DType dtype, const Shape& shape);

  size_t bytes_in_use() const;  // handed out and not yet returned
  size_t bytes_idle() const;    // waiting to be used again
  void trim();                  // frees what is idle

 private:
  struct Idle {
    void* data;
    size_t size_bytes;
  };
  BufferPool();
  void* take(size_t size_bytes);
  void give_back(void* data, size_t size_bytes);

  const LargeMemory memory_;
  mutable Mutex mu_;
  std::vector<Idle> idle_ HEADWAY_GUARDED_BY(mu_);
  size_t in_use_ HEADWAY_GUARDED_BY(mu_) = 0;
};

}  // namespace headway
