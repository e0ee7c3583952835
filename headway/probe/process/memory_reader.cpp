#include "headway/probe/process/memory_reader.h"

#include <algorithm>

#include "headway/core/clock.h"

namespace headway {

bool MemoryReader::stopped() const { return now_ns() >= stop_ns_; }

bool MemoryReader::read(uint64_t address, void* into, size_t bytes) const {
  const Piece piece{address, into, bytes};
  return read(std::span(&piece, 1)) == 1;
}

size_t MemoryReader::read(std::span<const Piece> pieces) const {
  constexpr size_t kAtOnce = 256;  // more than one stack's pages, which must be from one moment
  iovec here[kAtOnce], there[kAtOnce];
  size_t whole = 0;
  while (whole < pieces.size() && !stopped()) {
    const size_t count = std::min(pieces.size() - whole, kAtOnce);
    for (size_t i = 0; i < count; ++i) {
      const Piece& piece = pieces[whole + i];
      here[i] = {piece.into, piece.bytes};
      there[i] = {reinterpret_cast<void*>(piece.address), piece.bytes};
    }
    ssize_t got = call_(pid_, here, count, there, count, 0);
    const size_t until = whole + count;
    while (whole < until && got >= static_cast<ssize_t>(pieces[whole].bytes))
      got -= static_cast<ssize_t>(pieces[whole++].bytes);
    if (whole < until) break;
  }
  return whole;
}

std::optional<std::string> MemoryReader::c_string(uint64_t address, size_t limit) const {
  std::string out(limit, '\0');
  // A string may end directly before memory that does not exist.
  const size_t page_rest = 4096 - address % 4096;
  const size_t first = std::min(limit, page_rest);
  if (!read(address, out.data(), first)) return std::nullopt;
  if (out.find('\0') >= first && first < limit &&
      !read(address + first, out.data() + first, limit - first))
    return std::nullopt;
  out.resize(std::min(out.find('\0'), out.size()));
  return out;
}

}  // namespace headway
