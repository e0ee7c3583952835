#include <algorithm>
#include <array>
#include <utility>

#include "headway/trace/characters.h"
#include "headway/trace/harmless.h"
#include "headway/trace/plain_words.h"
#include "headway/trace/redact.h"
#include "headway/trace/secret_shapes.h"

namespace headway {
namespace {

const std::string kGone(kHidden);

enum class Trust { kNone, kUnknown, kKnown };  // in what stands behind a name

template <size_t N>
bool has_one_of(std::string_view name, const std::array<std::string_view, N>& words) {
  const std::vector<std::string> own = words_of(name);
  return std::any_of(own.begin(), own.end(), [&](const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  });
}

bool names_a_login(std::string_view name) {
  return has_one_of(name, std::array<std::string_view, 4>{"u", "user", "username", "account"});
}

// Behind these words anything may stand.
bool says_nothing(std::string_view name) {
  constexpr std::array<std::string_view, 37> kWords = {
      "foo",     "bar",    "baz",    "qux",     "value", "values", "my",    "the",
      "item",    "object", "field",  "entry",   "str",   "opt",    "api",   "text",
      "message", "string", "header", "headers", "arg",   "args",   "set",   "option",
      "options", "query",  "body",   "content", "code",  "word",   "words", "phrase",
      "var",     "vars",   "param",  "private", "access"};
  return names_a_login(name) || has_one_of(name, kWords);
}

// Known: every word of it is one that training programs use.
Trust trust_in(std::string_view name) {
  if (names_a_secret(name)) return Trust::kNone;
  const std::vector<std::string> words = words_of(name);
  const bool known = std::all_of(words.begin(), words.end(), [](const std::string& word) {
    return word.size() == 1 || is_plain_word(word);
  });
  const bool says_something = std::any_of(words.begin(), words.end(),
                                          [](const std::string& word) { return word.size() > 1; });
  return known && says_something && !says_nothing(name) ? Trust::kKnown : Trust::kUnknown;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 80 && !is_digit(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_alnum(c) || c == '_' || c == '.' || c == '-' || c == '+' || c == '~';
         });
}

std::string shown(std::string_view value, Trust trust);

bool is_list_of_paths(std::string_view value) {
  for (size_t at = 0; at <= value.size();) {
    const size_t end = std::min(value.find(':', at), value.size());
    const std::string_view part = value.substr(at, end - at);
    if (!part.empty() && (part[0] != '/' || !is_plain_path(part))) return false;
    at = end + 1;
  }
  return true;
}

std::string shown_pair(std::string_view name, std::string_view value) {
  return std::string(name) + "=" + shown(value, trust_in(name));
}

// "localhost:8080", "cuda:0", "app:server"
bool is_port(std::string_view value) {
  const size_t colon = std::min(value.find(':'), value.size() - 1);
  const std::string_view port = value.substr(colon + 1);
  const bool number = port.size() <= 5 && std::all_of(port.begin(), port.end(), is_digit);
  return is_plain_word(value.substr(0, colon)) && !says_nothing(value) &&
         !value.starts_with("root") && (number || is_plain_word(port));
}

// A value without signs that part it may be any word where the name is known.
bool is_harmless(std::string_view value, Trust trust) {
  if (is_shaped(value)) return false;
  if (is_short_number(value) || is_plain_path(value)) return true;
  const bool several = value.find_first_of(" :") != std::string_view::npos;
  if (several && names_a_secret(value)) return false;
  if (is_plain_name(value)) return !several || trust == Trust::kKnown || is_port(value);
  return trust == Trust::kKnown && !several && is_spoken_name(value);
}

std::string shown(std::string_view value, Trust trust) {
  if (value.empty()) return "";
  if (trust == Trust::kNone) return kGone;
  if (value.find("://") != std::string_view::npos)
    return value.find_first_of(" \t\n'\"") == std::string_view::npos ? redact_url(value) : kGone;
  if (is_harmless(value, trust) || is_list_of_paths(value)) return std::string(value);
  if (const size_t equals = value.find('='); equals < value.size() && value[0] != '-') {
    if (is_name(value.substr(0, equals)) && is_spoken_name(value.substr(0, equals)))
      return shown_pair(value.substr(0, equals), value.substr(equals + 1));
  }
  return kGone;
}

bool is_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && !is_digit(word[1]) && word[1] != '.';
}

// "-j8", "-vv", "-batch_size" as they are; "-pswordfish" without what may be a value.
std::string shown_short(std::string_view word) {
  if (word.size() <= 2) return std::string(word);
  const std::string_view rest = word.substr(2);
  constexpr std::string_view kOftenSecret = "apuPUkt";
  const bool flags = rest.size() <= 2 && std::all_of(rest.begin(), rest.end(), is_letter) &&
                     kOftenSecret.find(word[1]) == std::string_view::npos;
  const bool named = is_plain_name(word.substr(1)) && word.find(':') == std::string_view::npos;
  if (flags || named || is_short_number(rest)) return std::string(word);
  return std::string(word.substr(0, 2)) + kGone;
}

std::string shown_option(std::string_view word) {
  if (!word.starts_with("--")) return shown_short(word);
  return is_spoken_name(word.substr(2)) && !is_shaped(word) ? std::string(word) : "--" + kGone;
}

std::string redact_lines(std::string_view code) {
  std::string out;
  for (size_t at = 0; at <= code.size();) {
    const size_t end = std::min(code.find('\n', at), code.size());
    out += (at > 0 ? "\n" : "") + redact_source(code.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// Goes over the words of a command line from left to right.
class Command {
 public:
  explicit Command(std::string_view program)
      : python_(program.substr(program.rfind('/') + 1).find("python") != std::string_view::npos) {}

  std::string next(std::string_view word) {
    if (is_option(word)) return option(word);
    if (behind_secret_) return kGone;  // also the second word of a password without quotes
    const std::string name = std::exchange(option_, "");
    if (python_ && name == "-c") return redact_lines(word);
    if (python_ && name == "-m") return is_spoken_name(word) ? std::string(word) : kGone;
    if (names_a_login(name) && word.find(':') != std::string_view::npos) return kGone;
    return shown(word, name.starts_with("-") && name.size() > 2 ? trust_in(name) : Trust::kUnknown);
  }

 private:
  std::string option(std::string_view word) {
    const size_t equals = std::min(word.find('='), word.size());
    behind_secret_ = names_a_secret(word.substr(0, equals));
    std::string out = shown_option(word.substr(0, equals));
    option_ = equals == word.size() && !out.ends_with(kHidden) ? out : "";
    if (equals < word.size())
      out += "=" + shown(word.substr(equals + 1), trust_in(word.substr(0, equals)));
    return out;
  }

  bool python_;
  bool behind_secret_ = false;
  std::string option_;  // the word before, when it waits for a value
};

std::vector<std::string> parted(std::string_view text) {
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = end_of(text, at, [](char c) { return !is_blank(c); });
    if (end > at) out.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

}  // namespace

std::vector<std::string> redact_command(const std::vector<std::string>& words) {
  if (words.empty()) return {};
  // A process that renamed itself has all in one word.
  if (words.size() == 1 && words[0].find(' ') != std::string::npos)
    return redact_command(parted(words[0]));
  std::vector<std::string> out;
  const std::string& program = words[0];
  const bool harmless = std::all_of(program.begin(), program.end(), [](char c) {
    return is_alnum(c) || std::string_view("/._-+").find(c) != std::string_view::npos;
  });
  out.push_back(harmless && !is_shaped(program) ? program : kGone);
  Command command(program);
  for (size_t i = 1; i < words.size(); ++i) out.push_back(command.next(words[i]));
  return out;
}

std::string command_text(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : redact_command(words)) out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string redact_assignment(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || !is_name(text.substr(0, equals))) return kGone;
  const std::string_view name = text.substr(0, equals), value = text.substr(equals + 1);
  if (name == "PWD" || name == "OLDPWD") return shown_pair("folder", value).replace(0, 6, name);
  if (!is_option(value) || names_a_secret(name)) return shown_pair(name, value);
  std::vector<std::string> words = parted(value);  // XLA_FLAGS=--xla_...
  words.insert(words.begin(), "flags");
  return std::string(name) + "=" + command_text(words).substr(6);
}

std::string redact_variable(std::string_view name, std::string_view value) {
  if (names_a_secret(name) || is_shaped(value)) return "";
  if (value.find("://") != std::string_view::npos)
    return redact_url(value) == value ? std::string(value) : "";
  const bool number = is_short_number(value) || value == "nan" || value == "inf" || value == "-inf";
  const bool length = value.starts_with("list of ") && is_short_number(value.substr(8));
  return number || length || is_plain_path(value) ? std::string(value) : "";
}

}  // namespace headway
