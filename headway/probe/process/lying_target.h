#pragma once

// For tests: the memory of a simulated Python process, which can also contain false values.

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

// A piece of memory with words that tests can corrupt. `bytes` are at `base` in the target; after
// them is nothing or, if it repeats, the same content again without end: pointers then stay in
// their own copy, so that all objects there look new.
class LyingMemory {
 public:
  LyingMemory(char* bytes, size_t size, uint64_t base) : bytes_(bytes), size_(size), base_(base) {}
  // The same memory, with a copy of its bytes to corrupt.
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
  // A null pointer in this object, where a list of such objects ends.
  void put_end(uint64_t address, uint64_t object, bool of_stack) {
    put_pointer(address, 0);
    ends_.push_back({address - base_, object, of_stack});
  }

  // Changes one word to something else: 0, a huge or negative value, another object's address.
  void lie(std::mt19937_64& random);
  void repeat_without_end();
  // The list of threads, or every stack, continues in the next copy instead of ending.
  void lead_on(bool stacks);
  // While it is read, corrupts one word in every `every` calls.
  void keep_lying(unsigned every, uint64_t seed) { every_ = every, changing_.seed(seed); }

  // Works like process_vm_readv, but always reads this memory, for any process.
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

// For a MemoryReader: reads the memory that answers at this moment, whatever the process.
inline LyingMemory* answering = nullptr;
inline ssize_t answer(pid_t, const iovec* here, unsigned long count, const iovec* there,
                      unsigned long, unsigned long) {
  return answering->read(here, there, count);
}

// Puts a correct Python of this version with three threads into `memory`: inner() called by
// outer(), called by the module of `file`; lines 5, 7 and 8; in inner() `step` is 12345 and `path`
// is "a.png". `table_bytes`: the length it claims for its line tables.
PythonRuntime put_python(LyingMemory& memory, PythonVersion version, pid_t main_tid,
                         const std::string& file, int64_t table_bytes = 4);

}  // namespace headway
