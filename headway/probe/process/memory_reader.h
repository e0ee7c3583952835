#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "headway/probe/process/target_bytes.h"

namespace headway {

// Reads another process's memory without stopping it (process_vm_readv). What is read may be half
// old, half new, or a lie: whoever reads must check it. Not for several threads.
class MemoryReader {
 public:
  using Call = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                           unsigned long);
  // `call` is the kernel's but where a test has a memory of its own.
  explicit MemoryReader(pid_t pid, Call call = &process_vm_readv) : pid_(pid), call_(call) {}

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
  // Of the structure at `base`.
  template <typename T>
  std::optional<T> get(uint64_t base, TargetField<T> field) const {
    return field ? value<T>(field.in(base)) : std::nullopt;
  }
  // Up to `limit` bytes and the first 0, which is left out.
  std::optional<std::string> c_string(uint64_t address, size_t limit = 128) const;

  // From this moment on (of now_ns) nothing more is read: a target that always has more to show
  // does not hold us.
  void stop_at(int64_t ns) { stop_ns_ = ns; }
  bool stopped() const;

 private:
  pid_t pid_;
  Call call_;
  int64_t stop_ns_ = std::numeric_limits<int64_t>::max();
};

}  // namespace headway
