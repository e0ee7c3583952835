#include "cli/version.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/build_facts.h"
#include "cli/output.h"
#include "headway/core/descriptor.h"
#include "headway/core/error.h"
#include "headway/core/json.h"
#include "headway/core/print.h"

namespace headway::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Answer {
  std::string text;
  std::string why_not;  // there is none
};

std::string read_all(int descriptor) {
  std::string out;
  std::array<char, 4096> part;
  for (ssize_t n = 0; (n = ::read(descriptor, part.data(), part.size())) != 0;) {
    if (n > 0) out.append(part.data(), size_t(n));
    else if (errno != EINTR) break;
  }
  return out;
}

// What `program --version --json` prints. Its messages go where ours go.
Answer ask(const std::string& program) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {"", std::strerror(errno)};
  const Descriptor read(ends[0]);
  Descriptor write(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, write.get(), STDOUT_FILENO);
  std::string words[] = {program, "--version", "--json"};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, arguments, ::environ);
  posix_spawn_file_actions_destroy(&actions);
  write.close();
  if (failed != 0) return {"", std::strerror(failed)};
  const std::string text = read_all(read.get());
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {text, ""};
  return {"", WIFSIGNALED(status) ? fmt::format("killed by signal {}", WTERMSIG(status))
                                  : fmt::format("exit status {}", WEXITSTATUS(status))};
}

struct TrainVersion {
  Json libtorch;     // null: not known
  std::string text;  // a line about it
};

TrainVersion ask_train() {
  const std::string program = train_program();
  const Answer answer = ask(program);
  if (!answer.why_not.empty())
    return {Json(), fmt::format("not known: {} did not run ({})", program, answer.why_not)};
  const nlohmann::json told = parse_json(answer.text);
  const JsonView view(told);
  const auto commit = view["commit"].as<std::string>();
  std::string text = libtorch_text(told["libtorch"]) + " (in headway-train)";
  if (commit != build_facts().commit)
    text += fmt::format("; headway-train is of another commit: {}", commit);
  return {Json(told["libtorch"]), text};
}

}  // namespace

std::string train_program() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "headway-train").string();
}

void print_version(bool json) {
  const TrainVersion train = ask_train();
  if (!json) return print_lines(stdout, version_text(train.text));
  Json out = version_json();
  out["libtorch"] = train.libtorch;
  print_json_in_order(out);
}

}  // namespace headway::cli
