#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/verb_help.h"

namespace headway::cli {

// What a value on the command line is: what a shell can offer for it.
enum class ValueKind { kOther, kChoice, kFile, kFolder, kPath, kProcess, kCommand, kVerb };

// An option, or (without names) an argument that is known by its place.
struct OptionHelp {
  std::vector<std::string> names{};  // "--skip-log", "--ledger"
  std::string value{};               // "FILE", "exact|fast", "DATASET"; empty for a flag
  ValueKind kind = ValueKind::kOther;
  std::vector<std::string> choices{};
  std::string text{};      // what it does
  std::string standard{};  // the default, if there is one
  std::string group{};     // the heading it stands below
  bool required = false;
  bool repeats = false;  // takes all that is left

  bool takes_value() const { return !value.empty(); }
};

// A program or a verb, with all that --help, man pages and shells say of it.
struct CommandHelp {
  std::string name{};  // "headway bench feed"
  std::string summary{};
  std::vector<OptionHelp> options{}, arguments{};
  VerbHelp help{};
  std::vector<CommandHelp> verbs{};
};

// The kind follows from the option's type_name or option_text: FILE, DIR, PATH (a file or folder),
// PID, COMMAND, VERB; a list of words from CLI::IsMember.
OptionHelp describe(const CLI::Option& option);
CommandHelp describe(const CLI::App& app);

// "headway bench feed" -> "bench feed"; empty for the program itself.
std::string verb_of(const CommandHelp& command);
// The command and all below it that do something: `bench` alone does not.
std::vector<const CommandHelp*> leaves_of(const CommandHelp& command);

// The lines of a text that are not empty.
std::vector<std::string> paragraphs_of(const std::string& text);

}  // namespace headway::cli
