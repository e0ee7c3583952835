#include <fmt/format.h>

#include "cli/completion_scripts.h"

namespace headway::cli {
namespace {

constexpr const char* kHead =
    R"fish(# fish completion for headway, made by `headway completion fish`.

function __headway_at --description 'does the line begin with these verbs?'
    set -l words (commandline -opc)
    set -e words[1]
    set -l wanted (string split --no-empty ' ' -- $argv[1])
    for i in (seq (count $wanted))
        test "$words[$i]" = "$wanted[$i]"; or return 1
    end
end

function __headway_ends --description 'does it end with them, options left out?'
    __headway_at $argv[1]; or return 1
    set -l words (commandline -opc)
    set -e words[1]
    test (count (string match --invert -- '-*' $words)) -eq (count (string split --no-empty ' ' -- $argv[1]))
end

function __headway_processes
    headway attach 2>/dev/null | awk '$2 ~ /%$/ { pid = $1; $1 = ""; print pid "\t" $0 }'
end

function __headway_command --description 'complete the command after `headway run`'
    set -l words (commandline -opc) (commandline -ct)
    set -l at (contains --index -- -- $words); or return
    complete --do-complete (string join ' ' -- (string escape -- $words[(math $at + 1)..-2]) $words[-1])
end

complete -c headway -f
)fish";

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

// What may stand there, as options of `complete`.
std::string offer_of(const CommandHelp& program, const OptionHelp& option) {
  switch (option.kind) {
    case ValueKind::kChoice: return fmt::format("-x -a '{}'", fmt::join(option.choices, " "));
    case ValueKind::kFile:
    case ValueKind::kPath: return "-r -F";
    case ValueKind::kFolder: return "-x -a '(__fish_complete_directories)'";
    case ValueKind::kProcess: return "-x -a '(__headway_processes)'";
    case ValueKind::kCommand: return "-x -a '(__headway_command)'";
    case ValueKind::kVerb: return fmt::format("-x -a '{}'", fmt::join(verb_words(program), " "));
    case ValueKind::kOther: break;
  }
  return "-x";
}

std::string line(const std::string& condition, const std::string& verb, const std::string& rest) {
  return fmt::format("complete -c headway -n \"{} '{}'\" {}\n", condition, verb, rest);
}

std::string lines_of(const CommandHelp& program, const CommandHelp& command) {
  const std::string verb = verb_of(command);
  const std::string at = command.verbs.empty() ? "__headway_at" : "__headway_ends";
  std::string out;
  for (const OptionHelp& option : command.options)
    for (const std::string& name : option.names) {
      const bool is_long = name.starts_with("--");
      out += line(at, verb,
                  fmt::format("{} {}{} -d {}", is_long ? "-l" : "-s", name.substr(is_long ? 2 : 1),
                              option.takes_value() ? " " + offer_of(program, option) : "",
                              quoted(first_clause(option.text))));
    }
  for (const OptionHelp& each : command.arguments) out += line(at, verb, offer_of(program, each));
  for (const CommandHelp& below : command.verbs)
    out += line(at, verb,
                fmt::format("-a {} -d {}", below.name.substr(command.name.size() + 1),
                            quoted(first_clause(below.summary))));
  for (const CommandHelp& below : command.verbs) out += lines_of(program, below);
  return out;
}

}  // namespace

std::string fish_completion(const CommandHelp& program) {
  return kHead + lines_of(program, program);
}

}  // namespace headway::cli
