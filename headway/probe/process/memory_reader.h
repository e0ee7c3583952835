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

// Reads another process's memory without stopping it (process_vm_readv). The result may be partly
// outdated, or false on purpose: the caller must check it. Not for several threads.
class MemoryReader {
 public:
  using Call = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                           unsigned long);
  // `call` is the kernel's, except in tests that use a memory of their own.
  explicit MemoryReader(pid_t pid, Call call = &process_vm_readv) : pid_(pid), call_(call) {}

  struct Piece {
    uint64_t address;
    void* into;
    size_t bytes;
  };

  // True if all of it was read.
  bool read(uint64_t address, void* into, size_t bytes) const;
  // Reads pieces in as few calls as possible; returns how many, from the first on, are complete.
  size_t read(std::span<const Piece> pieces) const;

  template <typename T>
  std::optional<T> value(uint64_t address) const {
    T out;
    if (!read(address, &out, sizeof out)) return std::nullopt;
    return out;
  }
  // A field of the structure at `base`.
  template <typename T>
  std::optional<T> get(uint64_t base, TargetField<T> field) const {
    return field ? value<T>(field.in(base)) : std::nullopt;
  }
  // Text up to the first 0, at most `limit` bytes.
  std::optional<std::string> c_string(uint64_t address, size_t limit = 128) const;

  // After this moment (of now_ns) nothing more is read, so that a target with endless data cannot
  // hold us up.
  void stop_at(int64_t ns) { stop_ns_ = ns; }
  bool stopped() const;

 private:
  pid_t pid_;
  Call call_;
  int64_t stop_ns_ = std::numeric_limits<int64_t>::max();
};

}  // namespace headway
