#include <fmt/format.h>

#include "cli/completion_scripts.h"

namespace headway::cli {
namespace {

constexpr const char* kHead =
    R"bash(# bash completion for headway, made by `headway completion bash`.
)bash";

// The kinds of values are words in capitals; anything else is a list to choose from.
constexpr const char* kBody = R"bash(
_headway_offer() {  # KIND CURRENT
  local words=$1
  case $1 in
    '') return ;;
    FILE | PATH) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$2"); return ;;
    DIR) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$2"); return ;;
    COMMAND) mapfile -t COMPREPLY < <(compgen -c -- "$2"); return ;;
    PID) words=$("${COMP_WORDS[0]}" attach 2>/dev/null | awk '$2 ~ /%$/ { print $1 }') ;;
    OTHER) return ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$2")
}

_headway() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local verb='' word value kind='' i=1 place=0 first=0 ended=''
  COMPREPLY=()
  if [[ $current == '=' ]]; then  # --option=value comes as three words
    current=''
  elif [[ $before == '=' ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  while ((i < COMP_CWORD)); do
    word=${COMP_WORDS[i]}
    if [[ -z $ended && $word == -- ]]; then
      ended=yes
    elif [[ -z $ended && $word == -* ]]; then
      if [[ -n $(_headway_value "$verb" "$word") ]]; then
        ((i += 1))
        [[ ${COMP_WORDS[i]} == '=' ]] && ((i += 1))
        ((i >= COMP_CWORD)) && kind=$(_headway_value "$verb" "$word")
      fi
    elif ((place == 0)) && [[ " $(_headway_verbs "$verb") " == *" $word "* ]]; then
      verb="${verb:+$verb }$word"
    else
      ((place == 0)) && first=$i
      ((place += 1))
    fi
    ((i += 1))
  done
  if [[ -n $kind ]]; then
    _headway_offer "$kind" "$current"
    return
  fi
  kind=$(_headway_argument "$verb" "$place")
  if [[ $kind == COMMAND && $place -gt 0 ]]; then  # the command's own words
    if declare -F _command_offset >/dev/null; then
      _command_offset "$first"
    else
      _headway_offer FILE "$current"
    fi
  elif [[ -z $ended && $current == -* ]]; then
    _headway_offer "$(_headway_options "$verb")" "$current"
  elif [[ -n $(_headway_verbs "$verb") ]]; then
    _headway_offer "$(_headway_verbs "$verb")" "$current"
  else
    _headway_offer "$kind" "$current"
  fi
}

complete -F _headway headway
)bash";

std::string word_of(const CommandHelp& program, const OptionHelp& option) {
  switch (option.kind) {
    case ValueKind::kChoice: return fmt::format("{}", fmt::join(option.choices, " "));
    case ValueKind::kFile: return "FILE";
    case ValueKind::kFolder: return "DIR";
    case ValueKind::kPath: return "PATH";
    case ValueKind::kProcess: return "PID";
    case ValueKind::kCommand: return "COMMAND";
    case ValueKind::kVerb: return fmt::format("{}", fmt::join(verb_words(program), " "));
    case ValueKind::kOther: break;
  }
  return "OTHER";
}

class BashScript {
 public:
  explicit BashScript(const CommandHelp& program) : program_(program) { add(program); }

  std::string text() const {
    return kHead + function("_headway_verbs", "$1", verbs_) +
           function("_headway_options", "$1", options_) +
           function("_headway_value", "$1 $2", values_) +
           function("_headway_argument", "$1 $2", arguments_) + kBody;
  }

 private:
  // A function that prints what belongs to its arguments.
  static std::string function(const std::string& name, const std::string& of,
                              const std::string& cases) {
    return fmt::format("\n{}() {{\n  case \"{}\" in\n{}  esac\n}}\n", name, of, cases);
  }
  static std::string when(const std::string& what, const std::string& words) {
    return fmt::format("    '{}') echo '{}' ;;\n", what, words);
  }

  void add(const CommandHelp& command) {
    const std::string verb = verb_of(command);
    std::string words, options;
    for (const CommandHelp& below : command.verbs)
      words += (words.empty() ? "" : " ") + below.name.substr(command.name.size() + 1);
    if (!words.empty()) verbs_ += when(verb, words);
    for (const OptionHelp& option : command.options)
      for (const std::string& name : option.names) {
        options += (options.empty() ? "" : " ") + name;
        if (option.takes_value()) values_ += when(verb + " " + name, word_of(program_, option));
      }
    options_ += when(verb, options);
    for (size_t i = 0; i < command.arguments.size(); ++i) {
      const OptionHelp& each = command.arguments[i];
      arguments_ += when(fmt::format("{} {}", verb, i), word_of(program_, each));
      if (each.repeats)
        arguments_ += fmt::format("    '{} '*) echo '{}' ;;\n", verb, word_of(program_, each));
    }
    for (const CommandHelp& below : command.verbs) add(below);
  }

  const CommandHelp& program_;
  std::string verbs_, options_, values_, arguments_;
};

}  // namespace

std::string bash_completion(const CommandHelp& program) { return BashScript(program).text(); }

}  // namespace headway::cli
