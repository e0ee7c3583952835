#pragma once

#include <cstdint>

#include "headway/core/error.h"

namespace headway::cli {

// Held while an image takes `bytes` of memory outside of any pipeline's budget. Large ones share
// half of the memory there is: who does not fit waits until others are done; one alone never waits.
// More than that half throws SampleError with the arithmetic. Small ones pass. Must not be nested.
class MemoryTurn {
 public:
  MemoryTurn(int64_t bytes, const Origin& origin);
  ~MemoryTurn();
  MemoryTurn(const MemoryTurn&) = delete;

 private:
  const int64_t bytes_;  // 0: small
};

}  // namespace headway::cli
