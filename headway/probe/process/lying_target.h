#pragma once

// For tests: the memory of a Python process that never was, and how it lies.

#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "headway/probe/python/python_offsets.h"
#include "headway/probe/python/python_runtime.h"

namespace headway {

// A stretch of memory with words in it that may be changed for the worse. `bytes` lie at `base` in
// the target; behind them is nothing, or, when it repeats, the same again without end: pointers
// then stay in their own copy, so that all objects there are new ones.
class LyingMemory {
 public:
  LyingMemory(char* bytes, size_t size, uint64_t base) : bytes_(bytes), size_(size), base_(base) {}
  // The same, with a copy of its bytes to spoil.
  LyingMemory(const LyingMemory& other, char* bytes) : LyingMemory(other) { bytes_ = bytes; }

  uint64_t place(size_t bytes) {  // a new object; its address
    const uint64_t at = base_ + used_;
    used_ += (bytes + 15) / 16 * 16;
    return at;
  }
  void put_bytes(uint64_t address, const void* from, size_t bytes) {
    std::memcpy(bytes_ + (address - base_), from, bytes);
  }
  template <typename T>
  void put(uint64_t address, T value) {
    put_bytes(address, &value, sizeof value);
    words_.push_back(address - base_);
  }
  void put_pointer(uint64_t address, uint64_t to) {
    put(address, to);
    pointers_.push_back(address - base_);
  }
  // A pointer of this object, to nothing: here the list of its like ends.
  void put_end(uint64_t address, uint64_t object, bool of_stack) {
    put_pointer(address, 0);
    ends_.push_back({address - base_, object, of_stack});
  }

  // One word becomes something else: nothing, far too much, negative, another object's address.
  void lie(std::mt19937_64& random);
  void repeat_without_end();
  // The list of threads, or every stack, goes on in the next copy where it ended.
  void lead_on(bool stacks);
  // While it is read: one lie in so many calls.
  void keep_lying(unsigned every, uint64_t seed) { every_ = every, changing_.seed(seed); }

  // As process_vm_readv: whatever process is asked for, this memory answers for it.
  ssize_t read(const iovec* here, const iovec* there, unsigned long count);

 private:
  struct End {
    size_t at;
    uint64_t object;
    bool of_stack;
  };
  size_t copy(uint64_t address, char* into, size_t bytes) const;

  char* bytes_;
  size_t size_;
  uint64_t base_;
  size_t used_ = 0;
  std::vector<size_t> words_, pointers_;  // where in bytes_
  std::vector<End> ends_;
  bool repeats_ = false;
  unsigned every_ = 0;
  std::mt19937_64 changing_;
};

// An honest Python of this version, with three threads, in `memory`: inner() called by outer(),
// called by the module of `file`; lines 5, 7 and 8; `step` is 12345 and `path` is "a.png" in
// inner(). `table_bytes`: how long it says that its line tables are.
PythonRuntime put_python(LyingMemory& memory, PythonVersion version, pid_t main_tid,
                         const std::string& file, int64_t table_bytes = 4);

}  // namespace headway
