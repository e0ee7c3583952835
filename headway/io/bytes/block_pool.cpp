#include "headway/io/bytes/block_pool.h"

#include <algorithm>
#include <bit>
#include <new>

namespace headway {
namespace {

constexpr std::align_val_t kAlignment{4096};

}  // namespace

BlockPool& BlockPool::shared() {
  static BlockPool* pool = new BlockPool;
  return *pool;
}

Storage* BlockPool::take(size_t size_bytes) {
  const int exponent =
      std::max<int>(kSmallest, std::bit_width(std::max<size_t>(size_bytes, 1) - 1));
  if (exponent > kLargest) return Storage::allocate(size_bytes);
  {
    const MutexLock lock(mu_);
    if (!idle_[exponent].empty()) {
      void* memory = idle_[exponent].back();
      idle_[exponent].pop_back();
      idle_bytes_ -= size_t{1} << exponent;
      return wrap(memory, exponent);
    }
  }
  return wrap(::operator new (size_t{1} << exponent, kAlignment), exponent);
}

Storage* BlockPool::wrap(void* memory, int exponent) {
  return Storage::adopt(memory, size_t{1} << exponent, [](void* data, size_t size) {
    shared().give_back(data, std::countr_zero(size));
  });
}

void BlockPool::give_back(void* memory, int exponent) {
  const size_t size = size_t{1} << exponent;
  {
    const MutexLock lock(mu_);
    if (idle_bytes_ + size <= kMostIdleBytes) {
      idle_[exponent].push_back(memory);
      idle_bytes_ += size;
      return;
    }
  }
  ::operator delete(memory, kAlignment);
}

size_t BlockPool::idle_bytes() const {
  const MutexLock lock(mu_);
  return idle_bytes_;
}

}  // namespace headway
