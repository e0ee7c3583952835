#include "headway/probe/launch/descriptors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "headway/core/error.h"

namespace headway {
namespace {

constexpr int kMostWithoutCloseRange = 65536;
constexpr const char* kRaiseLimit =
    "raise the limit on open files in this shell, then start headway again: ulimit -n 4096";

void close_between(int first, int last) {
  if (first > last || ::close_range(first, last, 0) == 0) return;
  for (int fd = first; fd <= std::min(last, kMostWithoutCloseRange); ++fd) ::close(fd);
}

}  // namespace

Pipe::Pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw Error(fmt::format("cannot create a pipe: {}", std::strerror(errno)), kRaiseLimit);
  read = Descriptor(ends[0]), write = Descriptor(ends[1]);
}

SocketPair::SocketPair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw Error(fmt::format("cannot create a pair of sockets: {}", std::strerror(errno)),
                kRaiseLimit);
  one = Descriptor(ends[0]), other = Descriptor(ends[1]);
}

void occupy_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd)  // the kernel returns the lowest free number
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR | O_CLOEXEC) != fd)
      throw Error(fmt::format("/dev/null cannot be opened: {}", std::strerror(errno)),
                  "headway run needs /dev/null: in a container, mount /dev; elsewhere, make it "
                  "again: sudo mknod -m 666 /dev/null c 1 3");
}

void release_standard_descriptors() {
  const Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int fd = 0; fd <= 2; ++fd) ::dup2(nothing.get(), fd);
}

void close_all_but(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  int next = 3;
  for (const int fd : kept) {
    close_between(next, fd - 1);
    next = std::max(next, fd + 1);
  }
  close_between(next, ~0u >> 1);
}

}  // namespace headway
