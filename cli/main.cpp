// headway: the command line. Each verb is a file of its own; see verbs.h.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "cli/interrupt.h"
#include "cli/verbs.h"
#include "headway/core/error.h"

namespace headway::cli {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;

int complain(int status, const std::string& problem, const std::string& hint) {
  std::fflush(stdout);
  fmt::print(stderr, "headway: {}\n", problem);
  if (!hint.empty()) fmt::print(stderr, "  ---> {}\n", hint);
  return status;
}

// "headway bench feed": the words understood so far.
std::string words(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return app.get_name() + (chosen.empty() ? "" : " " + words(*chosen[0]));
}

int run(int argc, char** argv) {
  CLI::App app("Headway feeds training: fast, loud about trouble, never silently stuck.",
               "headway");
  app.footer(
      "`headway VERB --help` shows a verb's options and an example.\n"
      "Exit status: 0 done, 1 failed, 2 not understood, 130 interrupted.");
  app.require_subcommand(1);
  Task task;
  add_make_data(app, task);
  add_inspect(app, task);
  add_convert(app, task);
  add_bench(app, task);
  if (argc == 1) {
    fmt::print("{}", app.help());
    return 0;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);
    return complain(kUsage, e.what(), words(app) + " --help");
  }
  task();
  return 0;
}

}  // namespace
}  // namespace headway::cli

int main(int argc, char** argv) {
  using namespace headway;
  cli::catch_interrupts();
  try {
    return cli::run(argc, argv);
  } catch (const cli::Interrupted& e) {
    fmt::print(stderr, "headway: interrupted\n");
    return e.exit_status();
  } catch (const SampleError& e) {
    return cli::complain(cli::kFailed, e.problem(),
                         e.hint().empty() ? "replace it, or take it out of the dataset" : e.hint());
  } catch (const Error& e) {
    return cli::complain(cli::kFailed, e.problem(), e.hint());
  } catch (const std::filesystem::filesystem_error& e) {
    return cli::complain(cli::kFailed, e.path1().string() + ": " + e.code().message(),
                         "check that the folder exists and that this user may write there");
  } catch (const std::exception& e) {
    return cli::complain(cli::kFailed, e.what(), "");
  }
}
