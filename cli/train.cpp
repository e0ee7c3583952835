#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/train_settings.h"
#include "cli/verbs.h"
#include "cli/version.h"
#include "headway/core/error.h"
#include "headway/core/thread_limit.h"

namespace headway::cli {

void add_train(CLI::App& app) {
  auto settings = std::make_shared<TrainSettings>();
  CLI::App* verb = app.add_subcommand(
      "train", "train a model on images: live progress, checkpoints, a time table");
  add_train_options(*verb, *settings);
  verb->callback([settings] {});  // the options refer to it
}

// Loaded with fewer addresses, libtorch 1.13 ends in std::bad_alloc before its first line of ours.
constexpr int64_t kAddressesOfLibtorch = int64_t{1} << 30;

int run_train(int, char** argv) {
  require_addresses(kAddressesOfLibtorch, "libtorch");
  const std::string program = train_program();
  execv(program.c_str(), argv);
  const std::string reason = std::strerror(errno);
  throw Error(program + ": " + reason, "build it with HEADWAY_TRAIN=ON, which needs libtorch");
}

}  // namespace headway::cli
