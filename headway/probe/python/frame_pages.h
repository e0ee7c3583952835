#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headway/probe/process/memory_reader.h"

namespace headway {

// The memory pages that hold one thread's frames. They are learnt while its stack is walked, then
// copied in one call, so that all frames are from almost one moment. Not for several threads.
class FramePages {
 public:
  // Copies `first`, then the known pages, then `last`; false if not all could be read.
  bool copy(const MemoryReader& memory, std::span<const MemoryReader::Piece> first,
            std::span<const MemoryReader::Piece> last);
  // Reads from the last copy. False: not in its pages; the next copy will include it.
  bool get(uint64_t address, char* into, size_t bytes);
  size_t kept_bytes() const { return bytes_.capacity() + pages_.capacity() * sizeof(Page); }

 private:
  struct Page {
    uint64_t address = 0;
    int unused = 0;     // in how many copies in a row
    size_t copied = 0;  // its position in the copy, plus one; 0: not in it
  };
  bool get_from_page(uint64_t address, char* into, size_t bytes);

  std::vector<Page> pages_;  // sorted
  std::vector<char> bytes_;
};

}  // namespace headway
