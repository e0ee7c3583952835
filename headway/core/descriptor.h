#pragma once

#include <unistd.h>

#include <utility>

namespace headway {

// An open file of the system's; closed when this goes.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }  // whoever calls this closes it
  void close() {
    if (open()) ::close(release());
  }

 private:
  int fd_ = -1;
};

}  // namespace headway
