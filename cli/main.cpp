// headway: the command line. Each verb is a file of its own; see verbs.h.
#include <fmt/format.h>

#include "cli/complain.h"
#include "cli/verbs.h"
#include "cli/version.h"
#include "headway/core/error.h"
#include "headway/core/print.h"

namespace headway::cli {
namespace {

// "headway bench feed": the words understood so far.
std::string words(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return app.get_name() + (chosen.empty() ? "" : " " + words(*chosen[0]));
}

int run(int argc, char** argv) {
  CLI::App app("Headway feeds and trains: fast, loud about trouble, never silently stuck.",
               "headway");
  set_help(app,
           {.notes = "`headway VERB --help` shows a verb's options, examples and exit statuses, "
                     "`headway man VERB` its man page.",
            .statuses = exit_statuses()});
  app.require_subcommand(0, 1);
  bool version = false, json = false;
  auto* asked = app.add_flag("--version", version,
                             "print the version, with commit, compiler, codecs and libtorch");
  app.add_flag("--json", json, "with --version: print it as one JSON object")->needs(asked);
  Task task;
  int status = 0;
  add_make_data(app, task);
  add_inspect(app, task);
  add_convert(app, task);
  add_bench(app, task);
  add_doctor(app, task, status);
  add_compare(app, task, status);
  add_run(app, task, status);
  add_attach(app, task, status);
  add_check(app, task, status);
  add_train(app);
  add_completion(app, task);
  add_man(app, task);
  if (argc > 1 && std::string_view(argv[1]) == "train") return run_train(argc - 1, argv + 1);
  if (argc == 1) {
    print_lines(stdout, app.help());
    return 0;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);
    return complain(kUsage, e.what(), words(app) + " --help");
  }
  if (version) {
    print_version(json);
    return 0;
  }
  if (!task) return complain(kUsage, "a verb is missing", "headway --help lists them");
  task();
  return status;
}

}  // namespace
}  // namespace headway::cli

int main(int argc, char** argv) {
  using namespace headway::cli;
  return guarded([&] { return run(argc, argv); });
}
