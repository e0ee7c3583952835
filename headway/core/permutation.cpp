#include "headway/core/permutation.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>
#include <utility>

namespace headway {
namespace {

constexpr int64_t kExactLimit = int64_t{1} << 24;
constexpr int64_t kStride = 256;  // positions settled at a time, so that the lock is taken seldom
constexpr uint32_t kShuffleStream = 0x5348;

}  // namespace

Permutation::Permutation(int64_t n, uint64_t seed, uint64_t epoch)
    : n_(n), random_(seed, epoch, static_cast<uint64_t>(n), kShuffleStream) {
  if (n <= kExactLimit) {
    swapped_ = static_cast<uint32_t*>(std::calloc(std::max<int64_t>(n, 1), sizeof(uint32_t)));
    if (!swapped_) throw std::bad_alloc();
    return;
  }
  half_bits_ = (std::bit_width(static_cast<uint64_t>(n - 1)) + 1) / 2;
  for (int i = 0; i < kRounds; ++i) keys_[i] = mix(mix(seed, epoch), i);
}

Permutation::~Permutation() { std::free(swapped_); }

int64_t Permutation::operator[](int64_t position) {
  if (!swapped_) return bijection(position);
  if (position >= settled_.load(std::memory_order_acquire)) extend(position);
  return swapped_[position] ^ position;
}

void Permutation::extend(int64_t position) {
  MutexLock lock(mu_);
  int64_t i = settled_.load(std::memory_order_relaxed);
  const int64_t end = std::min(n_, position + kStride);
  for (; i < end; ++i) {
    const int64_t j = i + static_cast<int64_t>(random_.below(n_ - i));
    const uint32_t at_i = swapped_[i] ^ static_cast<uint32_t>(i);
    const uint32_t at_j = swapped_[j] ^ static_cast<uint32_t>(j);
    swapped_[i] = at_j ^ static_cast<uint32_t>(i);
    if (i != j) swapped_[j] = at_i ^ static_cast<uint32_t>(j);
  }
  if (end > settled_.load(std::memory_order_relaxed))
    settled_.store(end, std::memory_order_release);
}

// A Feistel network permutes [0, 4^half_bits_); walking its cycles until the value is below n
// gives a permutation of [0, n). The domain is at most 4n, so a few steps suffice.
int64_t Permutation::bijection(int64_t position) const {
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  uint64_t value = static_cast<uint64_t>(position);
  do {
    uint64_t left = value >> half_bits_, right = value & mask;
    for (uint64_t key : keys_) {
      left ^= mix(key, right) & mask;
      std::swap(left, right);
    }
    value = left << half_bits_ | right;
  } while (value >= static_cast<uint64_t>(n_));
  return static_cast<int64_t>(value);
}

int64_t Permutation::memory_bytes() const {
  return swapped_ ? settled_.load(std::memory_order_relaxed) * int64_t{sizeof(uint32_t)} : 0;
}

}  // namespace headway
