#include "headway/probe/launch/launched.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "headway/core/clock.h"
#include "headway/probe/launch/relay.h"

namespace headway {
namespace {

// How long to wait for the last output after it was asked to end and does not read it.
constexpr int64_t kLastWordsNs = 1'000'000'000;
// After a longer gap we were not slow but stopped.
constexpr int64_t kStandstillNs = 2'000'000'000;
// How long the watcher may take for its last report, while the user waits for the command's status.
constexpr unsigned kLastReportS = 30;

}  // namespace

sigset_t watcher_signals() {
  sigset_t set = passed_on_signals();
  sigaddset(&set, SIGCHLD);
  for (const int signal : {SIGALRM, SIGTSTP}) sigdelset(&set, signal);
  return set;
}

int exit_status_of(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

Launched::Launched(pid_t pid, std::vector<Copy> copies, Descriptor signals)
    : pid_(pid), signals_(std::move(signals)), awake_ns_(now_ns()) {
  for (Copy& copy : copies) {
    const int fd = copy.bytes.get();
    sources_.push_back({std::move(copy), CopyReader(fd)});
  }
  note_end();  // it may have ended already
}

int Launched::exit_status() const { return exit_status_of(status_); }

void Launched::note_end() {
  siginfo_t info = {};
  if (ended_ || ::waitid(P_PID, pid_, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
    return;
  ended_ = true;
  ended_ns_ = now_ns();
  status_ = info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status;
  for (const Source& source : sources_) ::shutdown(source.copy.bell.get(), SHUT_WR);
}

void Launched::handle_signals() {
  signalfd_siginfo info;
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    asked_to_end_ |= asks_to_end(static_cast<int>(info.ssi_signo));
    if (info.ssi_signo == SIGCHLD) note_end();
  }
}

bool Launched::all_read() const {
  if (!ended_) return false;
  if (asked_to_end_ && now_ns() - ended_ns_ > kLastWordsNs) return true;
  return std::none_of(sources_.begin(), sources_.end(),
                      [](const Source& each) { return each.copy.bytes.open(); });
}

void Launched::note_standstill(int64_t wanted_ns) {
  const int64_t now = now_ns(), late = now - awake_ns_ - wanted_ns;
  if (late > kStandstillNs) stopped_ns_ += late;
  awake_ns_ = now;
}

bool Launched::wait_for_output(double seconds, const Taken& taken) {
  const int64_t until = now_ns() + static_cast<int64_t>(1e9 * seconds);
  while (!all_read()) {
    const bool had_ended = ended_;
    const int64_t left = std::max<int64_t>(0, until - now_ns());
    std::vector<pollfd> files = {{signals_.get(), POLLIN, 0}};
    for (const Source& source : sources_) files.push_back({source.copy.bytes.get(), POLLIN, 0});
    const int ready = ::poll(files.data(), files.size(), int((left + 999'999) / 1'000'000));
    note_standstill(left);
    if (ready <= 0) return true;
    for (size_t i = 0; i < sources_.size(); ++i) {
      Source& source = sources_[i];
      const auto take = [&](std::string_view bytes, int64_t lost) {
        taken({bytes, lost, source.copy.errors});
      };
      if (files[i + 1].revents && !source.reader.read(take)) source.copy.bytes.close();
    }
    if (files[0].revents) handle_signals();
    if (asked_to_end_ && !told_) return told_ = true;  // before the effects of the signal
    if (ended_ && !had_ended) return true;             // so its last moment can be looked at
    if (now_ns() >= until) return true;                // however much is still unread
  }
  ::alarm(kLastReportS);
  return false;
}

}  // namespace headway
