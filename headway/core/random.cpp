#include "headway/core/random.h"

#include <cmath>
#include <numbers>

namespace headway {
namespace {

constexpr uint32_t kMul0 = 0xD2511F53, kMul1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;

}  // namespace

// splitmix64's finaliser over both words.
uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t z = a + 0x9E3779B97F4A7C15 * (b + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

Random::Random(uint64_t seed, uint64_t epoch, uint64_t sample, uint32_t op) {
  const uint64_t key = mix(mix(seed, epoch), op);
  key_ = {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)};
  counter_ = {0, 0, static_cast<uint32_t>(sample), static_cast<uint32_t>(sample >> 32)};
}

void Random::refill() {
  std::array<uint32_t, 4> x = counter_;
  std::array<uint32_t, 2> k = key_;
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t p0 = uint64_t{kMul0} * x[0];
    const uint64_t p1 = uint64_t{kMul1} * x[2];
    x = {static_cast<uint32_t>(p1 >> 32) ^ x[1] ^ k[0], static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ x[3] ^ k[1], static_cast<uint32_t>(p0)};
    k = {k[0] + kWeyl0, k[1] + kWeyl1};
  }
  block_ = x;
  used_ = 0;
  if (++counter_[0] == 0) ++counter_[1];
}

uint64_t Random::below(uint64_t n) {
  if (n <= 0xFFFFFFFF) {  // Lemire's multiply-and-reject
    uint64_t m = uint64_t{next_u32()} * n;
    if (static_cast<uint32_t>(m) < n) {
      const uint32_t threshold = (0x100000000 - n) % n;
      while (static_cast<uint32_t>(m) < threshold) m = uint64_t{next_u32()} * n;
    }
    return m >> 32;
  }
  const uint64_t limit = UINT64_MAX - UINT64_MAX % n;
  uint64_t x = next_u64();
  while (x >= limit) x = next_u64();
  return x % n;
}

float Random::normal() {
  const float u = 1.0f - uniform();  // (0, 1]
  return std::sqrt(-2.0f * std::log(u)) * std::cos(2 * std::numbers::pi_v<float> * uniform());
}

}  // namespace headway
