// Any bytes as a run.toml: settings, or an Error that names the file.
#include <cstdint>

#include "cli/train_settings.h"
#include "headway/core/error.h"
#include "tests/fuzz/memory_file.h"

using namespace headway;
using fuzz::MemoryFile;
using fuzz::require;

namespace {

struct Options {
  Options() { cli::add_train_options(app, settings); }
  CLI::App app;
  cli::TrainSettings settings;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const MemoryFile file({reinterpret_cast<const char*>(data), size});
  static Options options;
  options.app.clear();
  options.settings = {};  // a number that was refused may have been written half
  try {
    cli::read_train_config(options.app, file.path());
    const cli::TrainSettings& settings = options.settings;
    require(settings.epochs > 0 && settings.batch > 0 && settings.keep > 0);
  } catch (const Error& e) {
    require(e.problem().find(file.path()) == 0 && !e.hint().empty());
  }
  return 0;
}
