#include "headway/trace/redact.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace headway {
namespace {

constexpr std::string_view kHidden = "***";
constexpr size_t kLongRun = 32;        // of letters and digits, before its shape is looked at
constexpr double kRandomTurns = 0.25;  // changes between digits, capitals and the rest, a letter
constexpr size_t kLongestName = 64;    // of what may stand before = or :

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_alnum(char c) { return is_digit(c) || is_lower(c) || is_upper(c); }
bool is_name(char c) { return is_alnum(c) || c == '_' || c == '-' || c == '.'; }
bool is_base64(char c) {
  return is_alnum(c) || c == '+' || c == '/' || c == '=' || c == '_' || c == '-';
}

char lowered(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

template <typename Is>
size_t end_of(std::string_view text, size_t from, Is is) {
  while (from < text.size() && is(text[from])) ++from;
  return from;
}

bool same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return lowered(x) == lowered(y);
         });
}

template <size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view w) { return same_word(word, w); });
}

// What stands behind a name that promises a secret: where it begins and ends.
struct Span {
  size_t from, to;
};
Span value_behind(std::string_view text, size_t name_end, bool is_option) {
  constexpr std::array<std::string_view, 4> kSchemes = {"bearer", "basic", "token", "digest"};
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  const auto quote = [](char c) { return c == '"' || c == '\'' || c == '\\'; };
  size_t at = end_of(text, end_of(text, name_end, quote), blank);
  const bool assigned = at < text.size() && (text[at] == '=' || text[at] == ':');
  if (!assigned && !is_option) return {0, 0};
  if (assigned) at = end_of(text, at + 1, blank);
  // A quoted value ends at its quote, any other at a space or at what parts words.
  size_t begin = end_of(text, at, quote);
  const char closing = begin > at ? text[begin - 1] : '\0';
  const auto inside = [&](char c) {
    if (closing != '\0') return c != closing && c != '\n';
    return !is_space(c) && c != ',' && c != ';' && c != '&' && c != '"' && c != '\'' && c != ')' &&
           c != '}' && c != ']';
  };
  size_t end = end_of(text, begin, inside);
  if (is_one_of(text.substr(begin, end - begin), kSchemes)) {  // the word behind it is the secret
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
    if (name.size() > kLongestName || !names_a_secret(name)) continue;
    const Span value = value_behind(text, end, name.starts_with("--"));
    if (value.to <= value.from) continue;
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
    const size_t end =
        end_of(text, at, [](char c) { return !is_space(c) && c != '/' && c != '"'; });
    const size_t login = text.substr(at, end - at).rfind('@');
    if (login != std::string::npos && login > 0) text.replace(at, login, kHidden);
  }
  return text;
}

// -----BEGIN ... PRIVATE KEY----- and all behind it up to its end, or the text's.
std::string hide_private_keys(std::string text) {
  constexpr std::string_view kBegin = "-----BEGIN ", kKey = "PRIVATE KEY-----", kEnd = "-----END ";
  for (size_t at = 0; (at = text.find(kBegin, at)) != std::string::npos; ++at) {
    const size_t head = text.find("-----", at + kBegin.size());
    if (head == std::string::npos) break;
    if (!text.substr(at, head + 5 - at).ends_with(kKey)) continue;
    const size_t tail = text.find(kEnd, head);
    const size_t close = tail == std::string::npos ? tail : text.find("-----", tail + kEnd.size());
    text.replace(at, close == std::string::npos ? std::string::npos : close + 5 - at, kHidden);
  }
  return text;
}

bool has_known_prefix(std::string_view run) {
  struct Prefix {
    std::string_view text;
    size_t least;  // length of the whole
  };
  constexpr Prefix kPrefixes[] = {{"AKIA", 20},   {"ASIA", 20},  {"ghp_", 20},  {"gho_", 20},
                                  {"ghu_", 20},   {"ghs_", 20},  {"ghr_", 20},  {"github_pat_", 30},
                                  {"glpat-", 20}, {"hf_", 20},   {"sk-", 20},   {"xoxb-", 15},
                                  {"xoxp-", 15},  {"xoxa-", 15}, {"xoxs-", 15}, {"AIza", 35},
                                  {"eyJ", 30},    {"npm_", 30},  {"pypi-", 30}, {"wandb_v1_", 20}};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes), [&](const Prefix& p) {
    return run.starts_with(p.text) && run.size() >= p.least;
  });
}

// Random letters turn from digit to capital to small at every other place; words and paths do not.
bool looks_random(std::string_view run) {
  if (run.size() < kLongRun) return false;
  double turns = 0, letters = 0;
  int last = 0;
  for (const char c : run) {
    const int kind = is_digit(c) ? 1 : is_upper(c) ? 2 : is_lower(c) ? 3 : 0;
    if (kind == 0) continue;
    turns += last != 0 && kind != last;
    letters += 1;
    last = kind;
  }
  return letters >= kLongRun && turns >= kRandomTurns * letters;
}

std::string hide_shaped(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = end_of(text, at, is_base64);
    if (end == at) {
      out += text[at++];
      continue;
    }
    const std::string_view run = text.substr(at, end - at);
    at = end;
    if (!has_known_prefix(run) && !looks_random(run)) {
      out += run;
      continue;
    }
    out += kHidden;
    // A JWT goes on behind its dots.
    while (run.starts_with("eyJ") && at + 1 < text.size() && text[at] == '.' &&
           is_base64(text[at + 1])) {
      at = end_of(text, at + 1, is_base64);
    }
  }
  return out;
}

}  // namespace

bool names_a_secret(std::string_view name) {
  constexpr std::array<std::string_view, 19> kWords = {
      "key", "apikey",      "token",       "secret",        "password",  "passwd", "passphrase",
      "pwd", "credential",  "credentials", "authorization", "auth",      "cookie", "signature",
      "sig", "accesstoken", "accesskey",   "secretkey",     "privatekey"};
  // Its words: parted by anything but letters, and where a capital follows a small letter.
  size_t begin = 0;
  for (size_t i = 0; i <= name.size(); ++i) {
    const bool letter = i < name.size() && (is_lower(name[i]) || is_upper(name[i]));
    const bool hump = letter && i > begin && is_upper(name[i]) && is_lower(name[i - 1]);
    if (letter && !hump) continue;
    if (is_one_of(name.substr(begin, i - begin), kWords)) return true;
    begin = hump ? i : i + 1;
  }
  return false;
}

std::string redact(std::string_view text) {
  return hide_shaped(hide_named(hide_logins(hide_private_keys(std::string(text)))));
}

RunFacts redacted(RunFacts run) {
  for (std::string* text : {&run.program, &run.dataset, &run.model, &run.optimizer}) {
    *text = redact(*text);
  }
  for (std::string& callback : run.callbacks) callback = redact(callback);
  return run;
}

}  // namespace headway
