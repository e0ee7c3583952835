#include "headway/probe/launch/launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>

#include "headway/core/error.h"
#include "headway/core/print.h"
#include "headway/probe/launch/copier.h"
#include "headway/probe/launch/output_stream.h"
#include "headway/probe/launch/relay.h"

namespace headway {
namespace {

constexpr int kCopyBytes = 1 << 20;  // how far the watcher may fall behind with reading

// An output stream and the descriptors that connect the three processes along it.
struct Line {
  OutputStream stream;
  Pipe copy;
  SocketPair watcher_bell, relay_bell;  // one: for the process that asks; other: the copier's
  pid_t copier = -1;
};

// What the process that becomes the command reports: its pid, and why it could not start.
struct Started {
  pid_t pid = 0;
  int reason = 0;
};

pid_t fork_or_throw() {
  const pid_t pid = ::fork();
  if (pid < 0)
    throw Error(fmt::format("cannot start a process: {}", std::strerror(errno)),
                "end other programs to free memory, or raise the limit on processes in this shell: "
                "ulimit -u 8192");
  return pid;
}

class Launcher {
 public:
  Launcher(const std::vector<std::string>& command, LaunchOptions options, const Watch& watch)
      : options_(options), watch_(watch) {
    for (const std::string& word : command) arguments_.push_back(const_cast<char*>(word.c_str()));
    arguments_.push_back(nullptr);
  }

  int run() {
    std::fflush(nullptr);
    make_lines();
    block_signals();
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (Line& line : lines_) start_copier(line);
    start_watcher();
    if (started_.pid == 0 && started_.reason == 0) start_unwatched();
    if (started_.reason != 0) fail();
    return relay();
  }

 private:
  void make_lines() {
    for (OutputStream& stream : make_output_streams()) {
      Line& line = lines_.emplace_back();
      line.stream = std::move(stream);
      ::fcntl(line.copy.write.get(), F_SETPIPE_SZ, kCopyBytes);
      ::fcntl(line.copy.write.get(), F_SETFL, O_NONBLOCK);
    }
  }

  void block_signals() {
    ::signal(SIGCHLD, SIG_DFL);  // if ignored, we would not learn how children end
    sigset_t ours = passed_on_signals();
    sigaddset(&ours, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ours, &mask_before_);
    signals_ = Descriptor(::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK));
  }

  void start_copier(Line& line) {
    line.copier = fork_or_throw();
    if (line.copier != 0) return;
    CopierEnds ends = {.to = ::fcntl(line.stream.to, F_DUPFD_CLOEXEC, 3),
                       .from = line.stream.from.get(),
                       .words = line.stream.errors ? words_.read.get() : -1,
                       .copy = line.copy.write.get(),
                       .watcher_bell = line.watcher_bell.other.get(),
                       .relay_bell = line.relay_bell.other.get()};
    release_standard_descriptors();
    close_all_but({ends.to, ends.from, ends.words, ends.copy, ends.watcher_bell, ends.relay_bell});
    copy_output(ends);
  }

  void start_watcher() {
    Pipe told;
    watcher_ = fork_or_throw();
    if (watcher_ == 0) watch(told);
    hear(told);
  }

  // The watcher died before it could start the command.
  void start_unwatched() {
    Pipe told;
    if (fork_or_throw() == 0) become_command(told);
    hear(told);
  }

  void hear(Pipe& told) {
    told.write.close();
    for (Started word; ::read(told.read.get(), &word, sizeof word) == sizeof word;) started_ = word;
  }

  [[noreturn]] void become_command(const Pipe& told) {
    forget_handlers();  // or one of them would take a signal that arrives before exec
    for (const Line& line : lines_) {
      if (line.stream.out) ::dup2(line.stream.command.get(), STDOUT_FILENO);
      if (line.stream.errors) ::dup2(line.stream.command.get(), STDERR_FILENO);
    }
    Started word{::getpid(), 0};
    if (::write(told.write.get(), &word, sizeof word) == sizeof word) {
      sigprocmask(SIG_SETMASK, &mask_before_, nullptr);  // late: the relay waits, and cannot stop
      ::execvp(arguments_[0], arguments_.data());
    }
    word.reason = errno;
    if (::write(told.write.get(), &word, sizeof word) < 0) ::_exit(126);
    ::_exit(127);
  }

  static void forget_handlers() {
    for (int signal = 1; signal < NSIG; ++signal) {
      struct sigaction action;
      if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
        ::signal(signal, SIG_DFL);
    }
  }

  [[noreturn]] void watch(Pipe& told) {
    ::prctl(PR_SET_NAME, "headway-watcher");
    const pid_t command = ::fork();
    if (command == 0) become_command(told);
    if (command < 0) {
      const Started word{0, errno};
      ::_exit(::write(told.write.get(), &word, sizeof word) > 0 ? 1 : 2);
    }
    told.write.close();
    char go = 0;
    go_.write.close();
    if (::read(go_.read.get(), &go, 1) != 1) ::_exit(0);  // the command could not be started
    ::_exit(watch_started(command));
  }

  int watch_started(pid_t command) {
    ::signal(SIGPIPE, SIG_IGN);
    be_killed_first_without_memory();
    const int words = ::fcntl(words_.write.get(), F_DUPFD_CLOEXEC, 3);
    const sigset_t ours = watcher_signals();
    sigprocmask(SIG_SETMASK, &ours, nullptr);
    signals_ = Descriptor(::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK));
    std::vector<Launched::Copy> copies;
    std::vector<int> kept = {words, signals_.get()};
    for (Line& line : lines_) {
      kept.insert(kept.end(), {line.copy.read.get(), line.watcher_bell.one.get()});
      copies.push_back({std::move(line.copy.read), std::move(line.watcher_bell.one),
                        line.stream.errors && !line.stream.out});
    }
    close_all_others(kept);
    ::dup2(words, STDERR_FILENO);
    int status = 1;
    try {
      Launched launched(command, std::move(copies), std::move(signals_));
      watch_(launched);
      status = 0;
    } catch (const std::bad_alloc&) {
      say_out_of_memory(words);
    } catch (const std::exception& e) {
      if (!options_.quiet)
        print_lines(stderr, std::string("headway: watching has ended: ") + e.what() + "\n");
    }
    std::fflush(nullptr);
    return status;
  }

  void say_out_of_memory(int words) const {
    constexpr std::string_view kLine = "headway: watching has ended: no memory is left for it\n";
    if (!options_.quiet && ::write(words, kLine.data(), kLine.size()) < 0) return;
  }

  // Closes our own descriptors, then the user's.
  void close_all_others(const std::vector<int>& kept) {
    lines_.clear();
    for (Pipe* pipe : {&words_, &go_}) pipe->read.close(), pipe->write.close();
    release_standard_descriptors();
    close_all_but(kept);
  }

  // If memory runs out, the kernel should kill the watcher, not the training.
  static void be_killed_first_without_memory() {
    const Descriptor file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
    if (::write(file.get(), "1000", 4) < 0) return;  // then it is as likely as any other process
  }

  [[noreturn]] void fail() {
    go_.write.close();
    throw Error(fmt::format("{}: {}", arguments_[0], std::strerror(started_.reason)),
                "give a command that can be run after --, as in: headway run -- python train.py");
  }

  int relay() {
    Relay::Ends ends;
    ends.watcher = watcher_, ends.command = started_.pid;
    ends.quiet = options_.quiet;
    ends.words = std::move(words_.write), ends.signals = std::move(signals_);
    std::vector<int> kept = {ends.words.get(), ends.signals.get()};
    for (Line& line : lines_) {
      RelayedOutput& output = ends.outputs.emplace_back();
      output.copier = line.copier;
      output.name = line.stream.out ? "standard output" : "standard error";
      output.bell = std::move(line.relay_bell.one);
      kept.push_back(output.bell.get());
      if (!line.stream.terminal) continue;
      output.terminal = std::move(line.stream.from);
      output.users_terminal = Descriptor(::fcntl(line.stream.to, F_DUPFD_CLOEXEC, 3));
      kept.insert(kept.end(), {output.terminal.get(), output.users_terminal.get()});
    }
    ::signal(SIGPIPE, SIG_IGN);
    if (::write(go_.write.get(), "g", 1) < 0 && errno != EPIPE)  // the relay will notice its death
      throw Error(fmt::format("cannot start the process that watches the command: {}",
                              std::strerror(errno)),
                  "try again, or run the command without `headway run --`");
    close_all_others(kept);
    return exit_status_of(Relay(std::move(ends)).run());
  }

  const LaunchOptions options_;
  const Watch& watch_;
  std::vector<char*> arguments_;
  std::vector<Line> lines_;
  Pipe words_, go_;
  Descriptor signals_;
  sigset_t mask_before_ = {};
  pid_t watcher_ = -1;
  Started started_;
};

}  // namespace

int launch(const std::vector<std::string>& command, LaunchOptions options, const Watch& watch) {
  occupy_standard_descriptors();  // before anything else is opened
  return Launcher(command, options, watch).run();
}

}  // namespace headway
