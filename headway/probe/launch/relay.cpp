#include "headway/probe/launch/relay.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "headway/core/clock.h"

namespace headway {
namespace {

// After it was asked to end and has ended: how long the watcher may take for its report, and the
// user to read the rest. (Copiers stay behind and pass on what is left.)
constexpr int64_t kForWatcherNs = 5'000'000'000, kForReaderNs = 1'000'000'000;

constexpr size_t kLongestLine = 200;

const char* known(const char* description) { return description ? description : "unknown"; }

}  // namespace

sigset_t passed_on_signals() {
  sigset_t set;
  sigfillset(&set);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS, SIGPIPE,
                           SIGCHLD, SIGTTIN, SIGTTOU})
    sigdelset(&set, signal);
  return set;
}

bool asks_to_end(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

Relay::Relay(Ends ends) : ends_(std::move(ends)) {
  process_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, ends_.command, 0)));
}

int Relay::run() {
  while (ends_.watcher > 0 || !buried_) wait_for_events();
  ring();
  while (!all_passed_on()) wait_for_events();
  return status_;
}

void Relay::wait_for_events() {
  if (asked_to_end_ && give_up_ns_ == 0 && command_ended())
    give_up_ns_ = now_ns() + (rung_ ? kForReaderNs : kForWatcherNs);
  const bool awaits_end = asked_to_end_ && give_up_ns_ == 0;
  pollfd files[2 + kMostOutputs] = {{ends_.signals.get(), POLLIN, 0},
                                    {awaits_end ? process_.get() : -1, POLLIN, 0}};
  nfds_t count = 2;
  for (const RelayedOutput& output : ends_.outputs)
    files[count++] = {rung_ ? output.bell.get() : -1, POLLIN, 0};
  const int64_t left_ms = std::max<int64_t>(0, (give_up_ns_ - now_ns()) / 1'000'000 + 1);
  if (::poll(files, count, give_up_ns_ > 0 ? static_cast<int>(left_ms) : -1) == 0) give_up();
  for (nfds_t i = 2; i < count; ++i)
    if (files[i].revents) ends_.outputs[i - 2].bell.close();
  signalfd_siginfo info;
  while (::read(ends_.signals.get(), &info, sizeof info) == sizeof info)
    handle(static_cast<int>(info.ssi_signo), info.ssi_code, static_cast<pid_t>(info.ssi_pid));
}

void Relay::give_up() {
  give_up_ns_ = 0;
  if (ends_.watcher > 0) ::kill(ends_.watcher, SIGKILL);
  for (RelayedOutput& output : ends_.outputs)
    if (rung_) output.bell.close();
}

void Relay::handle(int signal, int code, pid_t sender) {
  if (signal == SIGCHLD) return bury_children();
  if (signal == SIGWINCH) return window_changed(code == SI_KERNEL, sender);
  asked_to_end_ |= asks_to_end(signal);
  // Keys of the terminal signal all of us; only what was sent to the relay alone is passed on.
  const bool by_key =
      code == SI_KERNEL && (signal == SIGINT || signal == SIGQUIT || signal == SIGTSTP);
  const bool stops = signal == SIGTSTP || signal == SIGCONT;
  if (!by_key && ends_.watcher > 0 && (asks_to_end(signal) || stops))
    ::kill(ends_.watcher, signal);  // first, so that it knows before it sees the effects
  if (!by_key && !buried_) ::kill(ends_.command, signal);
  if (signal == SIGTSTP) stop_with_the_job();
}

// The terminal signalled the whole job when the command's own terminal still had its old size: once
// that is set, signal the job again. That signal reaches us too, and may hide a newer one from the
// terminal, so the size is checked whoever sent it.
void Relay::window_changed(bool by_terminal, pid_t sender) {
  bool changed = false;
  for (const RelayedOutput& output : ends_.outputs) {
    if (output.terminal.open())
      changed |= copy_window_size(output.users_terminal.get(), output.terminal.get());
  }
  const bool to_us_alone = !by_terminal && sender != ::getpid();
  if (changed && !to_us_alone) ::kill(0, SIGWINCH);
  if (to_us_alone && !buried_) ::kill(ends_.command, SIGWINCH);
}

void Relay::stop_with_the_job() {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  ::raise(SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &stop, nullptr);  // here the relay stops until it is continued
  sigprocmask(SIG_BLOCK, &stop, nullptr);
}

// Processes that the command left behind are our children too.
void Relay::bury_children() {
  int status = 0;
  for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid == ends_.watcher) watcher_died(status);
    if (pid == ends_.command) status_ = status, buried_ = true;
    for (RelayedOutput& output : ends_.outputs) {
      if (pid != output.copier) continue;
      output.terminal.close();  // else the command would not notice that its terminal is gone
      output.bell.close();
      copier_died(output, status);
    }
  }
}

void Relay::watcher_died(int status) {
  ends_.watcher = -1;
  if (WIFEXITED(status)) return;  // it ended by itself, and reported it if that was too early
  char line[kLongestLine];
  const auto end = fmt::format_to_n(
      line, sizeof line,
      "headway: watching has ended: the watcher was killed by signal {} ({}){}\n", WTERMSIG(status),
      known(sigdescr_np(WTERMSIG(status))), command_ended() ? "" : "; the command goes on");
  say({line, std::min(end.size, sizeof line)});
}

// A reader that has gone away is not a failure: the command notices with its next print.
void Relay::copier_died(const RelayedOutput& output, int status) {
  const int reason = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  if (WIFEXITED(status) && (reason == 0 || reason == EPIPE)) return;
  char line[kLongestLine];
  const auto end = fmt::format_to_n(
      line, sizeof line, "headway: {} is lost from here on: {}\n", output.name,
      WIFEXITED(status) ? known(strerrordesc_np(reason)) : "its copier was killed");
  say({line, std::min(end.size, sizeof line)});
}

void Relay::ring() {
  give_up_ns_ = 0;
  ends_.words.close();
  rung_ = true;
  for (const RelayedOutput& output : ends_.outputs)
    if (output.bell.open()) ::shutdown(output.bell.get(), SHUT_WR);
}

bool Relay::all_passed_on() const {
  for (const RelayedOutput& output : ends_.outputs)
    if (output.bell.open()) return false;
  return true;
}

bool Relay::command_ended() const {
  pollfd file = {process_.get(), POLLIN, 0};
  return buried_ || ::poll(&file, 1, 0) > 0;
}

void Relay::say(std::string_view words) const {
  pollfd room = {ends_.words.get(), POLLOUT, 0};
  if (ends_.quiet || ::poll(&room, 1, 0) <= 0 || !(room.revents & POLLOUT)) return;
  if (::write(ends_.words.get(), words.data(), words.size()) < 0) return;  // nobody reads it
}

}  // namespace headway
