#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

// What the fuzzers share.
namespace headway::fuzz {

// What must hold whatever the bytes are. Ends the program, which the fuzzer takes as a finding.
inline void require(bool truth) {
  if (!truth) std::abort();
}

// The bytes as a file that is nowhere on disk.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes = "") : fd_(::memfd_create("fuzz", 0)) {
    require(::write(fd_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }
  std::string bytes() const {
    std::string all(static_cast<size_t>(::lseek(fd_, 0, SEEK_END)), '\0');
    require(::pread(fd_, all.data(), all.size(), 0) == static_cast<ssize_t>(all.size()));
    return all;
  }

 private:
  int fd_;
};

}  // namespace headway::fuzz
