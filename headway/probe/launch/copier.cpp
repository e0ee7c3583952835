#include "headway/probe/launch/copier.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include "headway/core/clock.h"
#include "headway/probe/launch/descriptors.h"

namespace headway {
namespace {

constexpr size_t kBuffer = 65536;
// More than a pipe or terminal can hold: after passing on this much, nothing older is left.
constexpr int64_t kMostWaiting = 1 << 20;
constexpr int64_t kWaitForLineEndNs = 200'000'000;

// Before each piece. A piece fits into PIPE_BUF: it is written completely or not at all.
struct PieceHead {
  int64_t size = 0, lost = 0;
};

class Copier {
 public:
  explicit Copier(const CopierEnds& ends)
      : to_(ends.to),
        from_(ends.from),
        words_(ends.words),
        copy_(ends.copy),
        bells_{{ends.watcher_bell}, {ends.relay_bell}} {}

  int run() {
    while (from_ >= 0 || words_ >= 0)
      if (!round()) return failure_;
    return 0;
  }

 private:
  enum { kWatcher, kRelay };
  struct Bell {
    int fd = -1;
    bool rung = false;
    int64_t before = kMostWaiting;  // bytes that may still be older than the ring of the bell
  };

  bool anyone_waits() const { return bells_[kWatcher].rung || bells_[kRelay].rung; }

  // How long our own messages still wait for the end of a line; 0: they need not wait.
  int64_t words_wait_ns() const {
    if (words_until_ns_ == 0 || at_line_start_ || bells_[kRelay].rung) return 0;
    return std::max<int64_t>(0, words_until_ns_ - now_ns());
  }

  bool round() {
    const int64_t wait_ns = words_wait_ns();
    pollfd files[] = {{from_, POLLIN, 0},
                      {wait_ns > 0 ? -1 : words_, POLLIN, 0},
                      {bells_[kWatcher].fd, POLLIN, 0},
                      {bells_[kRelay].fd, POLLIN, 0}};
    const int timeout = anyone_waits() ? 0 : wait_ns > 0 ? int(wait_ns / 1'000'000) + 1 : -1;
    if (::poll(files, 4, timeout) < 0) return errno == EINTR;
    const bool news = files[0].revents || files[1].revents;
    if (files[0].revents && !pass_on_output()) return false;
    if (files[1].revents && !pass_on_words()) return false;
    for (int i = 0; i < 2; ++i) {
      Bell& bell = bells_[i];
      if (bell.rung && (!news || bell.before <= 0)) {
        answer(i);
      } else if (files[2 + i].revents) {
        bell.rung = true;  // only the next pass is sure to find nothing older
      }
    }
    return true;
  }

  void answer(int i) {
    if (i == kWatcher) end_copy();
    close(bells_[i].fd);
    bells_[i].rung = false;
  }

  bool pass_on_output() {
    const ssize_t got = ::read(from_, buffer_, sizeof buffer_);
    if (got < 0 && errno == EINTR) return true;
    if (got <= 0) {  // a terminal ends with an error
      close(from_), end_copy();
      return true;
    }
    show_watcher(static_cast<size_t>(got));
    return write_all(static_cast<size_t>(got));
  }

  bool pass_on_words() {
    if (words_until_ns_ == 0 && !at_line_start_) {
      words_until_ns_ = now_ns() + kWaitForLineEndNs;
      return true;
    }
    words_until_ns_ = 0;
    const size_t line_end = at_line_start_ ? 0 : 1;
    buffer_[0] = '\n';
    const ssize_t got = ::read(words_, buffer_ + line_end, sizeof buffer_ - line_end);
    if (got < 0 && errno == EINTR) return true;
    if (got <= 0) {
      close(words_);
      return true;
    }
    return write_all(line_end + static_cast<size_t>(got));
  }

  void show_watcher(size_t count) {
    constexpr size_t kMost = PIPE_BUF - sizeof(PieceHead);
    for (size_t at = 0; at < count && copy_ >= 0; at += kMost) {
      PieceHead head{static_cast<int64_t>(std::min(kMost, count - at)), lost_};
      const iovec parts[] = {{&head, sizeof head}, {buffer_ + at, static_cast<size_t>(head.size)}};
      if (::writev(copy_, parts, 2) > 0) {
        lost_ = 0;
      } else if (errno == EAGAIN) {
        lost_ += head.size;
      } else {
        close(copy_);  // the watcher is gone
      }
    }
  }

  void end_copy() {
    const PieceHead last{0, lost_};
    if (lost_ > 0 && copy_ >= 0 && ::write(copy_, &last, sizeof last) < 0) lost_ = 0;
    close(copy_);
  }

  bool write_all(size_t count) {
    for (Bell& bell : bells_)
      if (bell.rung) bell.before -= static_cast<int64_t>(count);
    at_line_start_ = buffer_[count - 1] == '\n';
    for (const char* next = buffer_; count > 0;) {
      const ssize_t put = ::write(to_, next, count);
      if (put > 0) {
        next += put, count -= static_cast<size_t>(put);
      } else if (errno == EAGAIN) {  // another process made the user's end non-blocking
        pollfd room = {to_, POLLOUT, 0};
        ::poll(&room, 1, -1);
      } else if (errno != EINTR) {
        failure_ = errno;
        return false;
      }
    }
    return true;
  }

  static void close(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }

  int to_, from_, words_, copy_;
  Bell bells_[2];
  int64_t lost_ = 0, words_until_ns_ = 0;
  bool at_line_start_ = true;
  int failure_ = 0;
  char buffer_[kBuffer];
};

}  // namespace

void copy_output(const CopierEnds& ends) {
  // It ends when its work is done, not by a signal for the command; but a background job that may
  // not write to its terminal is stopped by SIGTTOU as a whole.
  sigset_t all;
  sigfillset(&all);
  for (const int signal : {SIGTTOU, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT})
    sigdelset(&all, signal);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  ::prctl(PR_SET_NAME, "headway-copier");
  Copier copier(ends);
  ::_exit(copier.run());
}

bool CopyReader::fill() {
  bytes_.erase(0, used_);
  used_ = 0;
  const size_t had = bytes_.size();
  bytes_.resize(had + kBuffer);
  const ssize_t got = ::read(fd_, bytes_.data() + had, kBuffer);
  bytes_.resize(had + static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

bool CopyReader::next(std::string_view& piece, int64_t& lost) {
  PieceHead head;
  if (bytes_.size() - used_ < sizeof head) return false;
  std::memcpy(&head, bytes_.data() + used_, sizeof head);
  const auto size = static_cast<size_t>(head.size);
  if (bytes_.size() - used_ - sizeof head < size) return false;
  piece = {bytes_.data() + used_ + sizeof head, size};
  lost = head.lost;
  used_ += sizeof head + size;
  return true;
}

}  // namespace headway
