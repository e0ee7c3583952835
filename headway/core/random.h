#pragma once

#include <array>
#include <cstdint>

namespace headway {

// Counter-based random numbers (Philox4x32-10): the n-th number of a key is a pure function of
// (key, n). Keyed by (seed, epoch, sample, operator), a sample's augmentations are the same
// whatever the number of threads or the order in which they run.
//
//   Random random(seed, epoch, sample, op);
//   float brightness = random.uniform(-0.1f, 0.1f);
class Random {
 public:
  Random(uint64_t seed, uint64_t epoch, uint64_t sample, uint32_t op);

  uint32_t next_u32() {
    if (used_ == 4) refill();
    return block_[used_++];
  }
  uint64_t next_u64() {
    const uint64_t high = next_u32();
    return high << 32 | next_u32();
  }
  // Uniform in [0, 1), 24 bits.
  float uniform() { return static_cast<float>(next_u32() >> 8) * 0x1p-24f; }
  float uniform(float low, float high) { return low + (high - low) * uniform(); }
  // Uniform in [0, n), without bias. REQUIRES: n > 0.
  uint64_t below(uint64_t n);
  bool coin(float probability = 0.5f) { return uniform() < probability; }
  float normal();  // mean 0, deviation 1

 private:
  void refill();

  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> counter_;
  std::array<uint32_t, 4> block_{};
  int used_ = 4;
};

// Mixes two words into one; every bit of the result depends on every bit of both.
uint64_t mix(uint64_t a, uint64_t b);

}  // namespace headway
