#include "headway/core/buffer_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

namespace headway {
namespace {

constexpr size_t kWorthPooling = 64 << 10;  // below, malloc is as good
constexpr size_t kHugePage = 2 << 20;
constexpr size_t kMaxIdle = 8;  // buffers of sizes no longer asked for do not pile up

size_t rounded(size_t size_bytes) {
  const size_t unit = size_bytes >= kHugePage ? kHugePage : 4096;
  return (size_bytes + unit - 1) / unit * unit;
}

void* allocate_ordinary(size_t size_bytes) {
  void* data = std::aligned_alloc(size_bytes >= kHugePage ? kHugePage : 4096, size_bytes);
  if (data && size_bytes >= kHugePage)
    madvise(data, size_bytes, MADV_HUGEPAGE);  // fewer faults; advice only
  return data;
}

Mutex large_memory_mu;
LargeMemory large_memory HEADWAY_GUARDED_BY(large_memory_mu) = {allocate_ordinary, std::free};

LargeMemory current_memory() {
  MutexLock lock(large_memory_mu);
  return large_memory;
}

}  // namespace

LargeMemory ordinary_memory() { return {allocate_ordinary, std::free}; }

void set_large_memory(LargeMemory memory) {
  MutexLock lock(large_memory_mu);
  large_memory = memory;
}

BufferPool::BufferPool() : memory_(current_memory()) {}

BufferPool::~BufferPool() { trim(); }

Tensor BufferPool::tensor(DType dtype, const Shape& shape) {
  const size_t wanted = shape.count() * size_of(dtype);
  if (wanted < kWorthPooling || dtype == DType::kString) return Tensor::empty(dtype, shape);
  const size_t size_bytes = rounded(wanted);
  void* data = take(size_bytes);
  Storage* storage = Storage::adopt(
      data, size_bytes, [pool = shared_from_this()](void* p, size_t n) { pool->give_back(p, n); });
  Tensor tensor = Tensor::view(dtype, shape, data, storage);
  storage->drop();
  return tensor;
}

void* BufferPool::take(size_t size_bytes) {
  {
    MutexLock lock(mu_);
    in_use_ += size_bytes;
    for (auto it = idle_.rbegin(); it != idle_.rend(); ++it) {
      if (it->size_bytes != size_bytes) continue;
      void* data = it->data;
      idle_.erase(std::next(it).base());
      return data;
    }
  }
  void* data = memory_.allocate(size_bytes);
  if (!data) throw std::bad_alloc();
  return data;
}

void BufferPool::give_back(void* data, size_t size_bytes) {
  void* surplus = nullptr;
  {
    MutexLock lock(mu_);
    in_use_ -= size_bytes;
    idle_.push_back({data, size_bytes});
    if (idle_.size() > kMaxIdle) {
      surplus = idle_.front().data;
      idle_.erase(idle_.begin());
    }
  }
  if (surplus) memory_.release(surplus);
}

size_t BufferPool::bytes_in_use() const {
  MutexLock lock(mu_);
  return in_use_;
}

size_t BufferPool::bytes_idle() const {
  MutexLock lock(mu_);
  size_t total = 0;
  for (const Idle& i : idle_) total += i.size_bytes;
  return total;
}

void BufferPool::trim() {
  std::vector<Idle> idle;
  {
    MutexLock lock(mu_);
    idle.swap(idle_);
  }
  for (const Idle& i : idle) memory_.release(i.data);
}

}  // namespace headway
