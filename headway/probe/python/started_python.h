#pragma once

// For tests: a real Python that runs a program of ours.

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace headway {

// python3 running a program of ours; the program says "ready" before anything looks at it.
class StartedPython {
 public:
  explicit StartedPython(const std::string& source, const std::string& python = "python3") {
    path_ = std::filesystem::temp_directory_path() / fmt::format("headway_stack_{}.py", getpid());
    std::ofstream(path_) << source;
    int ends[2];
    if (pipe(ends) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      close(ends[0]), close(ends[1]);
      unsetenv("PYTHONUNBUFFERED");  // default buffering
      execlp(python.c_str(), python.c_str(), path_.c_str(), nullptr);
      _exit(127);
    }
    close(ends[1]);
    char byte = 0;
    ready_ = read(ends[0], &byte, 1) == 1;
    listening_ = ends[0];
  }
  ~StartedPython() {
    close(listening_);
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    std::filesystem::remove(path_);
  }
  bool ready() const { return ready_; }
  pid_t pid() const { return pid_; }
  bool alive() const { return waitpid(pid_, nullptr, WNOHANG) == 0; }

 private:
  std::filesystem::path path_;
  pid_t pid_ = -1;
  int listening_ = -1;
  bool ready_ = false;
};

}  // namespace headway
