#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headway {

// A process that does nothing but copy a command's output to the user, byte by byte as it comes.
// When the user does not read it waits, and so in the end the command waits: as with a plain pipe.
// It lives until the last process that can write is gone, whatever else has died, so that a daemon
// left by the command can go on printing. Once the user's end is gone it exits, and the command's
// next print fails, as without us. It allocates nothing.
struct CopierEnds {
  int to = -1;     // the user's
  int from = -1;   // the command's
  int words = -1;  // messages of headway itself; put on lines of their own
  int copy = -1;   // for the watcher, non-blocking: what does not fit is dropped and counted
  // Two sockets, of the watcher and the relay. When one of them shuts its end down for writing, the
  // copier closes that socket as soon as all earlier output was passed on; the watcher's copy too.
  int watcher_bell = -1, relay_bell = -1;
};
[[noreturn]] void copy_output(const CopierEnds& ends);  // status: errno of the write that failed

// The watcher's end of the copy: pieces of output, and how many bytes were dropped before each.
class CopyReader {
 public:
  explicit CopyReader(int fd) : fd_(fd) {}
  // Reads once and passes on whole pieces. False at the end.
  template <typename Take>  // Take(std::string_view bytes, int64_t lost_before)
  bool read(const Take& take) {
    if (!fill()) return false;
    int64_t lost = 0;
    for (std::string_view piece; next(piece, lost);) take(piece, lost);
    return true;
  }
  int fd() const { return fd_; }

 private:
  bool fill();
  bool next(std::string_view& piece, int64_t& lost);

  int fd_;
  std::string bytes_;
  size_t used_ = 0;
};

}  // namespace headway
