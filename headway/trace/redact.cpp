#include "headway/trace/redact.h"

#include <algorithm>
#include <array>

#include "headway/trace/characters.h"
#include "headway/trace/harmless.h"
#include "headway/trace/secret_shapes.h"

namespace headway {
namespace {

constexpr size_t kLongestKey = 64;  // characters of a name before = or :

bool is_name(char c) { return is_alnum(c) || c == '_' || c == '-' || c == '.'; }

bool is_scheme(std::string_view word) {
  constexpr std::array<std::string_view, 4> kSchemes = {"bearer", "basic", "token", "digest"};
  const std::vector<std::string> words = words_of(word);
  return words.size() == 1 &&
         std::find(kSchemes.begin(), kSchemes.end(), words[0]) != kSchemes.end();
}

// The value after a name that may belong to a secret: where it begins and ends.
struct Span {
  size_t from, to;
};
Span value_after(std::string_view text, size_t name_end, bool is_option) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  const auto quote = [](char c) { return c == '"' || c == '\'' || c == '\\'; };
  size_t at = end_of(text, end_of(text, name_end, quote), blank);
  const bool assigned = at < text.size() && (text[at] == '=' || text[at] == ':');
  if (!assigned && !is_option) return {0, 0};
  if (assigned) at = end_of(text, at + 1, blank);
  // A quoted value ends at its quote, any other at a space or a separator.
  size_t begin = end_of(text, at, quote);
  const char closing = begin > at ? text[begin - 1] : '\0';
  const auto inside = [&](char c) {
    if (closing != '\0') return c != closing && c != '\n';
    return !is_blank(c) && std::string_view(",;&\"')}]").find(c) == std::string_view::npos;
  };
  size_t end = end_of(text, begin, inside);
  if (is_scheme(text.substr(begin, end - begin))) {  // the word after it is the secret
    begin = end_of(text, end, blank);
    end = end_of(text, begin, inside);
  }
  if (!assigned && text.substr(begin, 1) == "-") return {0, 0};  // the next option
  return {begin, end};
}

std::string hide_named(std::string_view text) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = end_of(text, at, is_name);
    const std::string_view name = text.substr(at, end - at);
    if (name.empty()) {
      out += text[at++];
      continue;
    }
    out += name;
    at = end;
    if (name.size() > kLongestKey || !names_a_secret(name)) continue;
    const Span value = value_after(text, end, name.starts_with("--"));
    if (value.to <= value.from || is_switch(text.substr(value.from, value.to - value.from)))
      continue;
    out += text.substr(end, value.from - end);
    out += kHidden;
    at = value.to;
  }
  return out;
}

// scheme://user:password@host
std::string hide_logins(std::string text) {
  for (size_t at = 0; (at = text.find("://", at)) != std::string::npos;) {
    at += 3;
    const size_t end = end_of(text, at, [](char c) { return !is_blank(c) && c != '"'; });
    if (const size_t login = end_of_login(std::string_view(text).substr(at, end - at)); login > 0)
      text.replace(at, login, kHidden);
  }
  return text;
}

}  // namespace

std::string redact(std::string_view text) {
  return hide_shaped(hide_named(hide_logins(hide_private_keys(std::string(text)))));
}

std::string redact_path(std::string_view path) { return hide_shaped(path); }

RunFacts redacted(RunFacts run) {
  for (std::string* text : {&run.program, &run.dataset, &run.model, &run.optimizer}) {
    *text = redact(*text);
  }
  for (OpFacts& op : run.operators) op.name = redact(op.name);
  for (std::string& callback : run.callbacks) callback = redact(callback);
  return run;
}

}  // namespace headway
