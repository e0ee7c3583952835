#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace headway::cli {

struct Example {
  std::string command;    // the first one of a verb works as typed: a test runs it
  std::string comment{};  // what it does, if the command does not say it
};

struct ExitStatus {
  std::string number;  // "3", "128 + N"
  std::string meaning;
};

// What is said of a verb beside its options: below them in --help, in sections of its man page.
struct VerbHelp {
  std::vector<Example> examples{};
  std::string notes{};  // paragraphs, each on a line of its own
  std::vector<ExitStatus> statuses{};
};

// What every verb may end with, and in its place 0 or what `own` says of success.
std::vector<ExitStatus> exit_statuses(std::vector<ExitStatus> own = {});

// For the program and each of its verbs, before verbs of its own are added to it.
void set_help(CLI::App& verb, VerbHelp help);
// Empty for a verb that was given none, or words of its own (CLI::App::footer).
VerbHelp help_of(const CLI::App& verb);

}  // namespace headway::cli
