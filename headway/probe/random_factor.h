#pragma once

#include <cstdint>

namespace headway {

// Random numbers between 0.5 and 1.5, 1 on average. With looks at equal distances, a program whose
// steps have the same pace would always be seen in the same place.
class RandomFactor {
 public:
  explicit RandomFactor(uint64_t seed) : state_(seed) {}

  double next() {
    state_ += 0x9e3779b97f4a7c15ull;
    uint64_t mixed = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9ull;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebull;
    return 0.5 + 0x1p-53 * double((mixed ^ (mixed >> 31)) >> 11);
  }

 private:
  uint64_t state_;
};

}  // namespace headway
