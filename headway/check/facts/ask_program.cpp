#include "headway/check/facts/ask_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>

#include "headway/core/clock.h"
#include "headway/core/descriptor.h"

extern char** environ;

namespace headway {
namespace {

constexpr size_t kMostBytes = 4 << 20;

struct Pipe {
  Descriptor ours, theirs;
};

bool make_pipe(Pipe& out) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  out = {Descriptor(ends[0]), Descriptor(ends[1])};
  return true;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& each : texts) out.push_back(const_cast<char*>(each.c_str()));
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> environment_with(const std::vector<std::string>& settings) {
  std::vector<std::string> out = settings;
  for (char** each = environ; *each; ++each) {
    const std::string_view entry(*each);
    const std::string_view name = entry.substr(0, entry.find('=') + 1);
    bool replaced = false;
    for (const std::string& setting : settings) replaced |= setting.starts_with(name);
    if (!replaced) out.emplace_back(entry);
  }
  return out;
}

int spawn(const std::vector<std::string>& command, const std::vector<std::string>& settings,
          const Pipe& out, const Pipe& err, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out.theirs.get(), 1);
  posix_spawn_file_actions_adddup2(&files, err.theirs.get(), 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const std::vector<std::string> environment = environment_with(settings);
  const int error = ::posix_spawnp(&pid, command[0].c_str(), &files, &attributes,
                                   pointers_to(command).data(), pointers_to(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

// False: the other side was closed.
bool take(int from, std::string& into) {
  char bytes[16384];
  const ssize_t got = ::read(from, bytes, sizeof bytes);
  if (got > 0 && into.size() < kMostBytes) into.append(bytes, static_cast<size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

// Reads both until they are closed; false: not in time.
bool read_both(Pipe& out, Pipe& err, double seconds, Answer& answer) {
  const int64_t end_ns = now_ns() + static_cast<int64_t>(1e9 * seconds);
  while (out.ours.open() || err.ours.open()) {
    const int64_t left_ms = (end_ns - now_ns()) / 1'000'000;
    if (left_ms <= 0) return false;
    pollfd both[] = {{out.ours.get(), POLLIN, 0}, {err.ours.get(), POLLIN, 0}};
    if (::poll(both, 2, static_cast<int>(left_ms)) < 0 && errno != EINTR) return false;
    if (both[0].revents && !take(out.ours.get(), answer.out)) out.ours.close();
    if (both[1].revents && !take(err.ours.get(), answer.err)) err.ours.close();
  }
  return true;
}

}  // namespace

Answer ask_program(const std::vector<std::string>& command, double seconds,
                   const std::vector<std::string>& settings) {
  Answer answer;
  Pipe out, err;
  pid_t pid = 0;
  int error = make_pipe(out) && make_pipe(err) ? 0 : errno;
  if (error == 0) error = spawn(command, settings, out, err, pid);
  if (error != 0) {
    answer.trouble = fmt::format("'{}' cannot be started: {}", command[0], std::strerror(error));
    return answer;
  }
  out.theirs.close(), err.theirs.close();
  const int64_t end_ns = now_ns() + static_cast<int64_t>(1e9 * seconds);
  bool in_time = read_both(out, err, seconds, answer);
  int status = 0;
  pid_t ended = 0;
  // Both pipes may be closed by a program that goes on.
  while (in_time && (ended = ::waitpid(pid, &status, WNOHANG)) == 0) {
    in_time = now_ns() < end_ns;
    ::poll(nullptr, 0, ended == 0 ? 1 : 0);
  }
  if (!in_time) {
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, &status, 0);
    answer.trouble = fmt::format("'{}' did not end within {:.0f} s", command[0], seconds);
  } else if (WIFSIGNALED(status)) {
    answer.trouble = fmt::format("'{}' was ended by signal {}", command[0], WTERMSIG(status));
  }
  answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return answer;
}

}  // namespace headway
