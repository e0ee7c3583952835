#pragma once

#include <string>

#include "cli/command_tree.h"

namespace headway::cli {

// Programs that tell a shell what may follow on a command line of headway: verbs, options and their
// values; files, folders, processes that look like trainings, commands.
std::string bash_completion(const CommandHelp& program);
std::string zsh_completion(const CommandHelp& program);
std::string fish_completion(const CommandHelp& program);

// The words that `headway man` understands.
std::vector<std::string> verb_words(const CommandHelp& program);

// The beginning of a text that can be read alone: what does not fit beside a name is left out.
std::string first_clause(const std::string& text);

}  // namespace headway::cli
