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

// The end of the word that begins at `at`; blanks inside quotes belong to the word.
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

struct Word {
  size_t begin, end;
  std::string bare;  // without its quotes
};

// The word unchanged, if redacting its text without quotes changed nothing.
std::string shown(std::string_view word, const std::string& bare, const std::string& redacted) {
  if (redacted == bare) return std::string(word);
  return bare == word ? redacted : std::string(kHidden);
}

// A single command: assignments, the program, its arguments.
class ShellCommand {
 public:
  void add(std::string_view text, size_t begin, size_t end) {
    std::string bare(text.substr(begin, end - begin));
    std::erase_if(bare, is_quote);
    words_.push_back({begin, end, std::move(bare)});
  }

  std::string redacted(std::string_view text) const {
    size_t first = 0;  // of the program
    while (first < words_.size() &&
           (is_assignment(words_[first].bare) || words_[first].bare == "export"))
      ++first;
    const std::vector<std::string> told = redacted_from(first);
    std::string out;
    for (size_t i = 0; i < words_.size(); ++i) {
      const auto& [begin, end, bare] = words_[i];
      const std::string_view word = text.substr(begin, end - begin);
      if (i > 0) out += text.substr(words_[i - 1].end, begin - words_[i - 1].end);
      const bool to_file = i > 0 && words_[i - 1].bare.ends_with(">") && is_plain_path(bare);
      if (is_redirection(word) || is_variable(word) || to_file || word == "export") {
        out += word;
      } else {
        out += shown(word, bare, i < first ? redact_assignment(bare) : told[i - first]);
      }
    }
    return out;
  }

 private:
  std::vector<std::string> redacted_from(size_t first) const {
    if (first == words_.size()) return {};
    std::vector<std::string> told{"program"};
    for (size_t i = first + 1; i < words_.size(); ++i) told.push_back(words_[i].bare);
    const std::string& program = words_[first].bare;
    const bool harmless = program.find(' ') == std::string::npos && !is_shaped(program) &&
                          (is_spoken_name(program) || is_plain_path(program));
    if (harmless) told[0] = program;
    told = redact_command(told);
    if (!harmless) told[0] = kHidden;
    return told;
  }

  std::vector<Word> words_;
};

}  // namespace

bool is_shell(std::string_view program) {
  constexpr std::array<std::string_view, 5> kShells = {"sh", "bash", "zsh", "dash", "ksh"};
  const std::string_view name = program.substr(program.rfind('/') + 1);
  return std::find(kShells.begin(), kShells.end(), name) != kShells.end();
}

std::string redact_shell(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (is_blank(text[at]) || is_operator(text[at])) {
      out += text[at++];
      continue;
    }
    ShellCommand command;
    while (at < text.size() && !is_operator(text[at])) {
      const size_t end = end_of_word(text, at);
      command.add(text, at, end);
      at = end_of(text, end, [](char c) { return is_blank(c); });
      if (at == text.size() || is_operator(text[at])) at = end;  // blanks before an operator
      if (at == end && (at == text.size() || is_blank(text[at]))) break;
    }
    out += command.redacted(text);
  }
  return out;
}

}  // namespace headway
