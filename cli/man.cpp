#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/build_facts.h"
#include "cli/man_page.h"
#include "cli/verbs.h"
#include "headway/core/error.h"
#include "headway/core/print.h"
#include "headway/io/bytes/output_file.h"

namespace headway::cli {
namespace {

struct Man {
  std::vector<std::string> words;
  std::string out;
};

const CommandHelp& find(const CommandHelp& program, const std::vector<std::string>& words) {
  const CommandHelp* command = &program;
  for (const std::string& word : words) {
    const auto next = std::ranges::find_if(command->verbs, [&](const CommandHelp& each) {
      return each.name == command->name + " " + word;
    });
    if (next == command->verbs.end())
      throw Error(fmt::format("{} has no verb '{}'", command->name, word),
                  command->name + " --help lists them");
    command = &*next;
  }
  return *command;
}

void write_page(const std::string& folder, const CommandHelp& command) {
  AtomicFile file(fmt::format("{}/{}.1", folder, page_name(command)));
  file.write(man_page(command, build_facts().version));
  file.commit();
}

void run(const Man& settings, const CommandHelp& program) {
  if (settings.out.empty()) {
    print_lines(stdout, man_page(find(program, settings.words), build_facts().version));
    return;
  }
  std::filesystem::create_directories(settings.out);
  write_page(settings.out, program);
  for (const CommandHelp* verb : leaves_of(program)) write_page(settings.out, *verb);
}

}  // namespace

void add_man(CLI::App& app, Task& task) {
  auto settings = std::make_shared<Man>();
  CLI::App* verb = app.add_subcommand("man", "print the man page of a verb");
  set_help(*verb, {.examples = {{"headway man doctor > headway-doctor.1"},
                                {"headway man bench feed | man -l -", "read it at once"},
                                {"headway man --out man1", "one file for each verb"}},
                   .statuses = {{"0", "done"},
                                {"1", "failed: a message says why, and what to do"},
                                {"2", "the command line was not understood"}}});
  auto* words = verb->add_option("verb", settings->words,
                                 "the verb, such as doctor or bench feed (default: headway itself)")
                    ->type_name("VERB");
  verb->add_option("--out", settings->out, "write all pages into this folder")
      ->type_name("DIR")
      ->excludes(words);
  verb->callback(
      [settings, &app, &task] { task = [settings, &app] { run(*settings, describe(app)); }; });
}

}  // namespace headway::cli
