#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headway {

// A process that does nothing but copy a command's output to the user, byte by byte as it comes. It
// waits where the user does not read, and so in the end the command waits: as with a plain pipe. It
// lives until the last one who can write is gone, whoever else has died: a daemon that the command
// left behind can go on printing. Once the user's end is gone it ends, and the next print of the
// command fails as it would without us. It allocates nothing.
struct CopierEnds {
  int to = -1;     // the user's
  int from = -1;   // the command's
  int words = -1;  // what headway itself has to say; on lines of its own
  int copy = -1;   // for the watcher, non-blocking: what does not fit is left out and counted
  // Two sockets, of the watcher and the relay. Who shuts his end down for writing gets it closed as
  // soon as all that was written before has been passed on. The watcher's copy is closed with it.
  int watcher_bell = -1, relay_bell = -1;
};
[[noreturn]] void copy_output(const CopierEnds& ends);  // status: errno of the write that failed

// The watcher's end of the copy: pieces of output, and how much was left out before them.
class CopyReader {
 public:
  explicit CopyReader(int fd) : fd_(fd) {}
  // Reads once and hands over whole pieces. False at the end.
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
