#include "headway/probe/launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "headway/core/clock.h"
#include "headway/core/error.h"

namespace headway {
namespace {

constexpr int kPassedOn[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH};

sigset_t passed_on() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kPassedOn) sigaddset(&set, signal);
  return set;
}

void copy_window_size(int from, int to) {
  winsize size;
  if (::ioctl(from, TIOCGWINSZ, &size) == 0) ::ioctl(to, TIOCSWINSZ, &size);
}

void write_all(int fd, const char* bytes, size_t count) {
  while (count > 0) {
    const ssize_t put = ::write(fd, bytes, count);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return;  // nobody reads any more; the command must not suffer from it
    bytes += put, count -= static_cast<size_t>(put);
  }
}

}  // namespace

Launch::Stream Launch::make_stream(int own, int& theirs) {
  Stream stream;
  stream.to = own;
  stream.terminal = ::isatty(own);
  int ends[2] = {-1, -1};
  if (stream.terminal) {
    if (::openpty(&ends[0], &ends[1], nullptr, nullptr, nullptr) != 0)
      throw Error(fmt::format("no terminal can be made: {}", std::strerror(errno)));
    termios mode;
    ::tcgetattr(ends[1], &mode);
    ::cfmakeraw(&mode);  // bytes go through as they are: the real terminal does the rest
    ::tcsetattr(ends[1], TCSANOW, &mode);
    copy_window_size(own, ends[1]);
    ::fcntl(ends[0], F_SETFD, FD_CLOEXEC), ::fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  } else if (::pipe2(ends, O_CLOEXEC) != 0) {
    throw Error(fmt::format("no pipe can be made: {}", std::strerror(errno)));
  }
  stream.from = ends[0];
  theirs = ends[1];
  return stream;
}

Launch::Launch(const std::vector<std::string>& command) {
  int out = -1, err = -1, failure[2] = {-1, -1};
  out_ = make_stream(STDOUT_FILENO, out);
  err_ = make_stream(STDERR_FILENO, err);
  if (::pipe2(failure, O_CLOEXEC) != 0)
    throw Error(fmt::format("no pipe can be made: {}", std::strerror(errno)));
  sigset_t ours = passed_on(), before;
  sigprocmask(SIG_BLOCK, &ours, &before);
  signals_ = ::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ < 0) throw Error(fmt::format("no process can be started: {}", std::strerror(errno)));
  if (pid_ == 0) {
    for (const int signal : kPassedOn) ::signal(signal, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    ::dup2(out, STDOUT_FILENO), ::dup2(err, STDERR_FILENO);
    ::execvp(words[0], words.data());
    const int reason = errno;
    if (::write(failure[1], &reason, sizeof reason) < 0) ::_exit(126);
    ::_exit(127);
  }
  ::close(out), ::close(err), ::close(failure[1]);
  int reason = 0;
  const ssize_t told = ::read(failure[0], &reason, sizeof reason);
  ::close(failure[0]);
  if (told == sizeof reason) {
    ::waitpid(pid_, nullptr, 0);
    throw Error(fmt::format("{}: {}", command[0], std::strerror(reason)),
                "give a command that can be run, behind --");
  }
  process_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
}

Launch::~Launch() {
  for (const int fd : {out_.from, err_.from, signals_, process_})
    if (fd >= 0) ::close(fd);
  sigset_t ours = passed_on();
  sigprocmask(SIG_UNBLOCK, &ours, nullptr);
}

void Launch::handle_signals() {
  signalfd_siginfo info;
  while (::read(signals_, &info, sizeof info) == sizeof info) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGWINCH) {
      for (const Stream& stream : {out_, err_})
        if (stream.terminal && stream.from >= 0) copy_window_size(stream.to, stream.from);
    }
    asked_to_end_ |= signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
    // The terminal's own keys went to the command too; only what was sent to us alone is passed on.
    if (info.ssi_code != SI_KERNEL && !ended_) ::kill(pid_, signal);
  }
}

bool Launch::pass_on(Stream& stream, bool errors, const Taken& taken) {
  char buffer[65536];
  const ssize_t got = ::read(stream.from, buffer, sizeof buffer);
  if (got > 0) {
    write_all(stream.to, buffer, static_cast<size_t>(got));
    taken({buffer, static_cast<size_t>(got)}, errors);
    return true;
  }
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  ::close(stream.from);
  stream.from = -1;
  return false;
}

bool Launch::wait_for_output(double seconds, const Taken& taken) {
  const int64_t until = now_ns() + static_cast<int64_t>(1e9 * seconds);
  for (;;) {
    const int64_t left = std::max<int64_t>(0, until - now_ns());
    pollfd files[] = {{out_.from, POLLIN, 0},
                      {err_.from, POLLIN, 0},
                      {signals_, POLLIN, 0},
                      {ended_ ? -1 : process_, POLLIN, 0}};
    const int ready = ::poll(files, 4, static_cast<int>((left + 999'999) / 1'000'000));
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) return !ended_ || out_.from >= 0 || err_.from >= 0;
    if (files[0].revents) pass_on(out_, false, taken);
    if (files[1].revents) pass_on(err_, true, taken);
    if (files[2].revents) handle_signals();
    if (asked_to_end_ && !told_) return told_ = true;  // before what it brings about
    if (files[3].revents) {
      ended_ = true;
      ended_ns_ = now_ns();
      return true;  // its last moment can be looked at
    }
    if (ended_ && out_.from < 0 && err_.from < 0) return false;
  }
}

bool Launch::last_words_over() const {
  constexpr int64_t kLastWordsNs = 300'000'000;
  return ended_ && now_ns() - ended_ns_ > kLastWordsNs;
}

int Launch::wait_status() {
  if (!reaped_) {
    while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) continue;
    reaped_ = ended_ = true;
  }
  return status_;
}

int Launch::exit_status() {
  const int status = wait_status();
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace headway
