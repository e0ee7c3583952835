#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/verbs.h"
#include "headway/core/error.h"

namespace headway::cli {

void add_train(CLI::App& app) {
  app.add_subcommand("train", "train a model on images: live progress, checkpoints, a time table");
}

int run_train(int, char** argv) {
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::string program = (here / "headway-train").string();
  execv(program.c_str(), argv);
  const std::string reason = std::strerror(errno);
  throw Error(program + ": " + reason, "build it with HEADWAY_TRAIN=ON, which needs libtorch");
}

}  // namespace headway::cli
