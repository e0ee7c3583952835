#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace headway {

// Reads another process's memory without stopping it (process_vm_readv). What is read may be half
// old, half new: whoever reads must check it. Not for several threads.
class MemoryReader {
 public:
  explicit MemoryReader(pid_t pid) : pid_(pid) {}

  struct Piece {
    uint64_t address;
    void* into;
    size_t bytes;
  };

  // All of it, or false.
  bool read(uint64_t address, void* into, size_t bytes) const;
  // Piece by piece in as few calls as possible; gives back how many came whole, from the first on.
  size_t read(std::span<const Piece> pieces) const;

  template <typename T>
  std::optional<T> value(uint64_t address) const {
    T out;
    if (!read(address, &out, sizeof out)) return std::nullopt;
    return out;
  }
  // Up to `limit` bytes and the first 0, which is left out.
  std::optional<std::string> c_string(uint64_t address, size_t limit = 128) const;

  // May this process be read at all? 0, or errno of the last read that failed.
  int last_error() const { return last_error_; }

 private:
  pid_t pid_;
  mutable int last_error_ = 0;
};

}  // namespace headway
