#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "headway/core/error.h"
#include "headway/core/regular_file.h"

namespace headway {

class Storage;

// Bytes that grow but never shrink, are not cleared, and serve many files one after another.
class Buffer {
 public:
  char* data() { return bytes_.get(); }
  const char* data() const { return bytes_.get(); }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  std::string_view view() const { return {bytes_.get(), size_}; }

  // Room for `capacity` bytes; the first size() are kept.
  void reserve(size_t capacity);
  // Sets the size; new bytes hold anything.
  void resize(size_t size) {
    reserve(size);
    size_ = size;
  }

 private:
  std::unique_ptr<char[]> bytes_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

// A regular file open for reading, closed when this goes. Reads at an offset are safe from any
// thread. Opened, and failing, as open_regular says.
class File {
 public:
  explicit File(std::string path);

  const std::string& path() const { return path_; }
  uint64_t size_bytes() const;  // as it is now
  int64_t mtime_ns() const;

  // Up to `n` bytes from `offset`; fewer only where the file ends.
  size_t pread(uint64_t offset, char* into, size_t n) const;
  // Exactly `n` bytes; throws SampleError at `offset` when the file ends before.
  void pread_exact(uint64_t offset, char* into, size_t n) const;

  // The same without a copy, if it can be had so: see mapping.h. Else null.
  Storage* map(uint64_t offset, size_t size_bytes) const;

  // How it will be read, for the kernel's read-ahead.
  enum class Access { kSequential, kRandom };
  void advise(Access access) const;

 private:
  std::string path_;
  Descriptor fd_;
};

// What is read whole (an image) may have this size: 1 GB.
inline constexpr uint64_t kMostWhole = uint64_t{1} << 30;

// The whole file into `buffer`: one open, one fstat, one read, one close when nobody writes to it
// meanwhile; what grows or shrinks during the read is taken as it is found. Fails as open_regular
// does, and for a file above `most_bytes`.
void read_all(const std::string& path, Buffer& buffer, uint64_t most_bytes = kMostWhole);

}  // namespace headway
