#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "headway/core/random.h"
#include "headway/core/sync.h"

namespace headway {

// A uniformly random order of 0..n-1, a pure function of (n, seed, epoch).
// Up to 2^24 elements it is a Fisher-Yates shuffle computed only as far as it has been asked for:
// memory the system clears lazily, so the first element costs the same for ten elements or ten
// million. Beyond that it is a keyed bijection (Feistel network), which needs no memory at all.
// Thread-safe.
class Permutation {
 public:
  Permutation(int64_t n, uint64_t seed, uint64_t epoch);
  ~Permutation();
  Permutation(const Permutation&) = delete;

  int64_t operator[](int64_t position);  // REQUIRES: 0 <= position < n
  int64_t memory_bytes() const;

 private:
  void extend(int64_t position);
  int64_t bijection(int64_t position) const;

  static constexpr int kRounds = 8;
  const int64_t n_;
  uint64_t keys_[kRounds];
  int half_bits_ = 0;

  // Entry i holds (element at i) XOR i, so that cleared memory is the identity.
  uint32_t* swapped_ = nullptr;
  std::atomic<int64_t> settled_{0};  // positions below are final
  Mutex mu_;
  Random random_ HEADWAY_GUARDED_BY(mu_);
};

}  // namespace headway
