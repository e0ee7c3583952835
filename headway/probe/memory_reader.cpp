#include "headway/probe/memory_reader.h"

#include <limits.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace headway {

bool MemoryReader::read(uint64_t address, void* into, size_t bytes) const {
  const Piece piece{address, into, bytes};
  return read(std::span(&piece, 1)) == 1;
}

size_t MemoryReader::read(std::span<const Piece> pieces) const {
  size_t whole = 0;
  std::vector<iovec> here, there;
  while (whole < pieces.size()) {
    const size_t count = std::min<size_t>(pieces.size() - whole, IOV_MAX);
    here.clear(), there.clear();
    for (const Piece& piece : pieces.subspan(whole, count)) {
      here.push_back({piece.into, piece.bytes});
      there.push_back({reinterpret_cast<void*>(piece.address), piece.bytes});
    }
    ssize_t got = process_vm_readv(pid_, here.data(), count, there.data(), count, 0);
    if (got < 0) {
      last_error_ = errno;
      return whole;
    }
    size_t i = 0;
    for (; i < count && got >= static_cast<ssize_t>(pieces[whole + i].bytes); ++i)
      got -= static_cast<ssize_t>(pieces[whole + i].bytes);
    whole += i;
    if (i < count) {
      last_error_ = EFAULT;
      return whole;
    }
  }
  return whole;
}

std::optional<std::string> MemoryReader::c_string(uint64_t address, size_t limit) const {
  std::string out(limit, '\0');
  // A string may end right before memory that is not there.
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
