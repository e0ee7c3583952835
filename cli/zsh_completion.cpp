#include <fmt/format.h>

#include "cli/completion_scripts.h"

namespace headway::cli {
namespace {

constexpr const char* kHead = R"zsh(#compdef headway
# zsh completion for headway, made by `headway completion zsh`.

_headway_processes() {
  local -a found
  found=(${(f)"$(headway attach 2>/dev/null | awk '$2 ~ /%$/ { pid = $1; $1 = ""; print pid ":" $0 }')"})
  _describe 'process' found
}
)zsh";

// Loaded from $fpath this file is the body of _headway, and runs at once; sourced, it is announced.
constexpr const char* kTail = R"zsh(
if [[ $funcstack[1] == _headway ]]; then
  _headway "$@"
else
  compdef _headway headway
fi
)zsh";

// Inside '...' of a specification for _arguments or _describe.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') out += "'\\''";
    else if (c == '[' || c == ']' || c == ':' || c == '\\') out += std::string("\\") + c;
    else out += c;
  }
  return out;
}

std::string action_of(const CommandHelp& program, const OptionHelp& option) {
  switch (option.kind) {
    case ValueKind::kChoice: return fmt::format("({})", fmt::join(option.choices, " "));
    case ValueKind::kFile:
    case ValueKind::kPath: return "_files";
    case ValueKind::kFolder: return "_files -/";
    case ValueKind::kProcess: return "_headway_processes";
    case ValueKind::kCommand: return "_normal";
    case ValueKind::kVerb: return fmt::format("({})", fmt::join(verb_words(program), " "));
    case ValueKind::kOther: break;
  }
  return " ";
}

std::string function_name(const CommandHelp& command) {
  std::string out = "_" + command.name;
  for (char& c : out)
    if (c == ' ') c = '_';
  return out;
}

// One line for each name of each option, and each argument.
std::string specifications(const CommandHelp& program, const CommandHelp& command) {
  std::string out;
  const auto add = [&out](const std::string& text) { out += fmt::format(" \\\n    '{}'", text); };
  for (const OptionHelp& option : command.options) {
    const std::string value =
        fmt::format(":{}:{}", escaped(option.value), action_of(program, option));
    for (const std::string& name : option.names)
      add(fmt::format("{}{}[{}]{}", name, option.takes_value() ? "=" : "",
                      escaped(first_clause(option.text)), option.takes_value() ? value : ""));
  }
  for (const OptionHelp& each : command.arguments) {
    const bool command_line = each.kind == ValueKind::kCommand;
    add(fmt::format("{}:{}:{}",
                    command_line   ? "(-)*:"
                    : each.repeats ? "*"
                                   : "",
                    escaped(each.value), action_of(program, each)));
  }
  return out;
}

std::string function_of(const CommandHelp& program, const CommandHelp& command) {
  const std::string name = function_name(command);
  const std::string own = specifications(program, command);
  if (command.verbs.empty()) return fmt::format("\n{}() {{\n  _arguments -S :{}\n}}\n", name, own);
  std::string verbs, out;
  for (const CommandHelp& verb : command.verbs) {
    verbs += fmt::format("\n        '{}:{}'", verb.name.substr(command.name.size() + 1),
                         escaped(first_clause(verb.summary)));
    out += function_of(program, verb);
  }
  return out + fmt::format(R"zsh(
{0}() {{
  local curcontext=$curcontext state line
  local -a verbs
  _arguments -C :{1} \
    '1:verb:->verb' '*::argument:->argument'
  case $state in
    verb)
      verbs=({2}
      )
      _describe 'verb' verbs ;;
    argument) (( $+functions[{0}_${{line[1]}}] )) && {0}_${{line[1]}} ;;
  esac
}}
)zsh",
                           name, own, verbs);
}

}  // namespace

std::string zsh_completion(const CommandHelp& program) {
  return kHead + function_of(program, program) + kTail;
}

}  // namespace headway::cli
