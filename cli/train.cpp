#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/verbs.h"
#include "headway/core/error.h"

namespace headway::cli {

void add_train(CLI::App& app) {
  app.add_subcommand("train", "train a model on images: live progress, checkpoints, a time table");
}

int run_train(int, char** argv) {
  // OpenMP's threads wait for each other by spinning, for milliseconds. When something else wants
  // the core (the feed does) that is time taken from it. The number is a
  // guess between spinning and sleeping, still to be measured.
  setenv("GOMP_SPINCOUNT", "10000", /*overwrite=*/0);
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::string program = (here / "headway-train").string();
  execv(program.c_str(), argv);
  const std::string reason = std::strerror(errno);
  throw Error(program + ": " + reason, "build it with HEADWAY_TRAIN=ON, which needs libtorch");
}

}  // namespace headway::cli
