#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/verbs.h"
#include "headway/core/error.h"
#include "headway/core/thread_limit.h"

namespace headway::cli {

void add_train(CLI::App& app) {
  app.add_subcommand("train", "train a model on images: live progress, checkpoints, a time table");
}

// Loaded with fewer addresses, libtorch 1.13 ends in std::bad_alloc before its first line of ours.
constexpr int64_t kAddressesOfLibtorch = int64_t{1} << 30;

int run_train(int, char** argv) {
  require_addresses(kAddressesOfLibtorch, "libtorch");
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::string program = (here / "headway-train").string();
  execv(program.c_str(), argv);
  const std::string reason = std::strerror(errno);
  throw Error(program + ": " + reason, "build it with HEADWAY_TRAIN=ON, which needs libtorch");
}

}  // namespace headway::cli
