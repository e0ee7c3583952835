#include "headway/probe/launch/output_stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "headway/core/error.h"

namespace headway {
namespace {

// A number that was closed at our start is occupied by a file that the command must not get.
bool is_users(int fd) { return (::fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0; }

bool same_place(int one, int other) {
  struct stat a, b;
  return ::fstat(one, &a) == 0 && ::fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino && a.st_rdev == b.st_rdev;
}

void make_terminal(OutputStream& stream) {
  int ours = -1, theirs = -1;
  if (::openpty(&ours, &theirs, nullptr, nullptr, nullptr) != 0)
    throw Error(fmt::format("cannot create a terminal for the command: {}", std::strerror(errno)),
                "pass the output through a pipe: headway run ... | cat");
  stream.from = Descriptor(ours), stream.command = Descriptor(theirs);
  termios mode;
  ::tcgetattr(theirs, &mode);
  ::cfmakeraw(&mode);  // bytes pass unchanged: the real terminal does the rest
  ::tcsetattr(theirs, TCSANOW, &mode);
  copy_window_size(stream.to, theirs);
  for (const int fd : {ours, theirs}) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

OutputStream make_stream(int to) {
  OutputStream stream;
  stream.to = to;
  stream.out = to == STDOUT_FILENO, stream.errors = to == STDERR_FILENO;
  stream.terminal = ::isatty(to);
  if (stream.terminal) {
    make_terminal(stream);
  } else {
    Pipe pipe;
    stream.from = std::move(pipe.read), stream.command = std::move(pipe.write);
  }
  return stream;
}

}  // namespace

bool copy_window_size(int from, int to) {
  winsize size{}, before{};
  if (::ioctl(from, TIOCGWINSZ, &size) != 0 || ::ioctl(to, TIOCGWINSZ, &before) != 0) return false;
  return std::memcmp(&size, &before, sizeof size) != 0 && ::ioctl(to, TIOCSWINSZ, &size) == 0;
}

std::vector<OutputStream> make_output_streams() {
  std::vector<OutputStream> streams;
  const bool out = is_users(STDOUT_FILENO), errors = is_users(STDERR_FILENO);
  if (out) streams.push_back(make_stream(STDOUT_FILENO));
  if (out && errors && same_place(STDOUT_FILENO, STDERR_FILENO)) {
    streams[0].errors = true;
  } else if (errors) {
    streams.push_back(make_stream(STDERR_FILENO));
  }
  return streams;
}

}  // namespace headway
