#pragma once

#include <string>

#include "cli/command_tree.h"

namespace headway::cli {

// The man page of a verb, or of the program with the list of its verbs, as roff (man(7)): what
// --help says, in the sections of a man page. `version` stands at its foot.
std::string man_page(const CommandHelp& command, const std::string& version);

// "headway bench feed" -> "headway-bench-feed": without ".1" the name by which man finds it.
std::string page_name(const CommandHelp& command);

}  // namespace headway::cli
