#include <algorithm>
#include <array>
#include <utility>

#include "headway/trace/characters.h"
#include "headway/trace/commands.h"
#include "headway/trace/harmless.h"
#include "headway/trace/redact.h"
#include "headway/trace/secret_shapes.h"

namespace headway {
namespace {

bool is_operator(char c) { return c == ';' || c == '|' || c == '&' || c == '(' || c == ')'; }

// Where the word that begins at `at` ends: quotes hold blanks together.
size_t end_of_word(std::string_view text, size_t at) {
  char quote = '\0';
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (is_quote(c)) {
      quote = c;
    } else if (is_blank(c) || (is_operator(c) && text[at - 1] != '>')) {  // 2>&1
      break;
    }
  }
  return at;
}

bool is_redirection(std::string_view word) {
  const size_t sign = end_of(word, 0, is_digit);
  if (sign >= word.size() || (word[sign] != '>' && word[sign] != '<')) return false;
  const std::string_view target =
      word.substr(end_of(word, sign, [](char c) { return c == '>' || c == '<' || c == '&'; }));
  return is_short_number(target) || target.empty() || is_plain_path(target);
}

// "$f", "${HOME}"
bool is_variable(std::string_view word) {
  std::string_view name = word.substr(word.starts_with("$") ? 1 : word.size());
  if (name.starts_with("{") && name.ends_with("}")) name = name.substr(1, name.size() - 2);
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_alnum(c) || c == '_'; });
}

bool is_assignment(std::string_view word) {
  const size_t name = end_of(word, 0, [](char c) { return is_alnum(c) || c == '_'; });
  return name > 0 && name < word.size() && word[name] == '=';
}

// One command of several; the words of it one by one.
class ShellCommand {
 public:
  std::string next(const std::string& word) {
    const bool to_file = std::exchange(redirected_, word.ends_with(">"));
    if (is_redirection(word) || is_variable(word) || (to_file && is_plain_path(word))) return word;
    std::string bare = word;
    std::erase_if(bare, is_quote);
    const std::string shown = judged(bare);
    if (shown == bare) return word;
    return bare == word ? shown : std::string(kHidden);
  }

 private:
  std::string judged(const std::string& word) {
    if (words_.empty() && is_assignment(word)) return redact_assignment(word);
    if (words_.empty() && word == "export") return word;
    if (words_.empty() && !is_spoken_name(word) && !is_plain_path(word))
      return std::string(kHidden);
    words_.push_back(word);
    return redact_command(words_).back();
  }

  std::vector<std::string> words_;
  bool redirected_ = false;  // the word before was ">"
};

}  // namespace

bool is_shell(std::string_view program) {
  constexpr std::array<std::string_view, 5> kShells = {"sh", "bash", "zsh", "dash", "ksh"};
  const std::string_view name = program.substr(program.rfind('/') + 1);
  return std::find(kShells.begin(), kShells.end(), name) != kShells.end();
}

std::string redact_shell(std::string_view text) {
  std::string out;
  ShellCommand command;
  for (size_t at = 0; at < text.size();) {
    if (is_blank(text[at]) || is_operator(text[at])) {
      if (is_operator(text[at])) command = ShellCommand();
      out += text[at++];
      continue;
    }
    const size_t end = end_of_word(text, at);
    out += command.next(std::string(text.substr(at, end - at)));
    at = end;
  }
  return out;
}

}  // namespace headway
