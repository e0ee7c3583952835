#include <memory>

#include "cli/completion_scripts.h"
#include "cli/verbs.h"
#include "headway/core/print.h"

namespace headway::cli {
namespace {

std::string script_for(const std::string& shell, const CommandHelp& program) {
  if (shell == "bash") return bash_completion(program);
  return shell == "zsh" ? zsh_completion(program) : fish_completion(program);
}

}  // namespace

void add_completion(CLI::App& app, Task& task) {
  auto shell = std::make_shared<std::string>();
  CLI::App* verb =
      app.add_subcommand("completion", "print what a shell completes headway's words by");
  set_help(*verb,
           {.examples = {{"source <(headway completion bash)", "in ~/.bashrc; in zsh likewise"},
                         {"headway completion zsh > ~/.zfunc/_headway", "a folder of $fpath"},
                         {"headway completion fish > ~/.config/fish/completions/headway.fish"}},
            .notes = "Completes verbs, options, their values, files, folders, and for attach the "
                     "processes that look like trainings. The installed package brings all three.",
            .statuses = {{"0", "done"}, {"2", "the command line was not understood"}}});
  verb->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  verb->callback([shell, &app, &task] {
    task = [shell, &app] { print_lines(stdout, script_for(*shell, describe(app))); };
  });
}

}  // namespace headway::cli
