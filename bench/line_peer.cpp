#include "bench/line_peer.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>

namespace headway::bench {

LinePeer::LinePeer(const std::string& command) {
  int to[2], from[2];
  if (pipe(to) != 0 || pipe(from) != 0) return;
  std::signal(SIGPIPE, SIG_IGN);  // a peer that died is noticed when it does not answer
  pid_ = fork();
  if (pid_ == 0) {
    dup2(to[0], STDIN_FILENO);
    dup2(from[1], STDOUT_FILENO);
    for (const int fd : {to[0], to[1], from[0], from[1]}) close(fd);
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  close(to[0]);
  close(from[1]);
  to_ = fdopen(to[1], "w");
  from_ = fdopen(from[0], "r");
  const nlohmann::json about = read_line();
  ready_ = about.is_object() && about.value("ready", false);
}

LinePeer::~LinePeer() {
  if (to_) std::fclose(to_);
  if (from_) std::fclose(from_);
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
}

nlohmann::json LinePeer::order(const std::string& line) {
  std::fprintf(to_, "%s\n", line.c_str());
  std::fflush(to_);
  return read_line();
}

// What is not JSON is the framework talking to itself.
nlohmann::json LinePeer::read_line() {
  char buffer[4096];
  while (std::fgets(buffer, sizeof(buffer), from_)) {
    nlohmann::json line = nlohmann::json::parse(buffer, nullptr, false);
    if (line.is_object()) return line;
  }
  return nullptr;
}

}  // namespace headway::bench
