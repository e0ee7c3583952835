#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headway/probe/process/memory_reader.h"

namespace headway {

// The pages of memory in which one thread's frames lie. They are learnt while its stack is walked
// and copied in one call, so that all frames are of nearly one moment. Not for several threads.
class FramePages {
 public:
  // Copies `first`, then the pages known so far, then `last`; false when not all could be read.
  bool copy(const MemoryReader& memory, std::span<const MemoryReader::Piece> first,
            std::span<const MemoryReader::Piece> last);
  // From the last copy. False: not among its pages, but in the next copy it will be.
  bool get(uint64_t address, char* into, size_t bytes);
  size_t kept_bytes() const { return bytes_.capacity() + pages_.capacity() * sizeof(Page); }

 private:
  struct Page {
    uint64_t address = 0;
    int unused = 0;     // copies in a row
    size_t copied = 0;  // where in the copy, plus one; 0: not in it
  };
  bool get_from_page(uint64_t address, char* into, size_t bytes);

  std::vector<Page> pages_;  // sorted
  std::vector<char> bytes_;
};

}  // namespace headway
