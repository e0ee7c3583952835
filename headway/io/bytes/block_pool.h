#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "headway/core/sync.h"
#include "headway/core/tensor.h"

namespace headway {

// Memory for what is read from files. A block dropped by its last user comes back and is handed
// out again first, while its bytes still lie in the processor's cache: reading at memory speed
// stands and falls with that, and fresh memory would cost a page fault every 4 KB.
// Safe from any thread.
class BlockPool {
 public:
  // The one of this process; never destroyed, since blocks may outlive everything else.
  static BlockPool& shared();

  // At least `size_bytes`, with one reference that is the caller's. Sizes are rounded up to powers
  // of two.
  Storage* take(size_t size_bytes);

  size_t idle_bytes() const;

 private:
  static constexpr int kSmallest = 12;  // 4 KB
  static constexpr int kLargest = 26;   // 64 MB; above, nothing is kept
  static constexpr size_t kMostIdleBytes = size_t{64} << 20;

  BlockPool() = default;
  Storage* wrap(void* memory, int exponent);
  void give_back(void* memory, int exponent);

  mutable Mutex mu_;
  std::array<std::vector<void*>, kLargest + 1> idle_ HEADWAY_GUARDED_BY(mu_);
  size_t idle_bytes_ HEADWAY_GUARDED_BY(mu_) = 0;
};

}  // namespace headway
