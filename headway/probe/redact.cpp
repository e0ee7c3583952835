#include "headway/probe/redact.h"

#include <algorithm>
#include <cctype>

namespace headway {
namespace {

constexpr const char* kHidden = "***";

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// "https://user:word@host/x" -> "https://***@host/x"
std::string without_login(const std::string& word) {
  const size_t scheme = word.find("://");
  if (scheme == std::string::npos) return word;
  const size_t end = std::min(word.find('/', scheme + 3), word.size());
  const size_t at = word.rfind('@', end);
  if (at == std::string::npos || at < scheme) return word;
  return word.substr(0, scheme + 3) + kHidden + word.substr(at);
}

std::string redacted_word(const std::string& word) {
  const size_t equals = word.find('=');
  if (equals != std::string::npos && names_a_secret(word.substr(0, equals)))
    return word.substr(0, equals + 1) + kHidden;
  if (equals != std::string::npos && looks_like_a_secret(word.substr(equals + 1)))
    return word.substr(0, equals + 1) + kHidden;
  return looks_like_a_secret(word) ? kHidden : without_login(word);
}

}  // namespace

bool names_a_secret(const std::string& name) {
  const std::string small = lower(name);
  for (const char* word : {"token", "secret", "password", "passwd", "passphrase", "api_key",
                           "apikey", "api-key", "access_key", "access-key", "private_key",
                           "private-key", "credential", "auth", "bearer", "cookie", "session"}) {
    if (small.find(word) != std::string::npos) return small.find("tokeniz") == std::string::npos;
  }
  return false;
}

bool looks_like_a_secret(const std::string& value) {
  for (const char* prefix : {"sk-", "ghp_", "gho_", "github_pat_", "hf_", "AKIA", "ASIA", "xox",
                             "eyJ", "glpat-", "AIza", "ya29."}) {
    if (value.starts_with(prefix) && value.size() >= 16) return true;
  }
  if (value.size() < 32 || value.find('/') != std::string::npos) return false;
  int digits = 0, letters = 0;
  for (const unsigned char c : value) {
    if (!std::isalnum(c) && c != '-' && c != '_' && c != '+' && c != '=') return false;
    digits += std::isdigit(c) != 0, letters += std::isalpha(c) != 0;
  }
  return digits >= 6 && letters >= 6;
}

std::string redacted_command(const std::vector<std::string>& words) {
  std::string out;
  bool hide_next = false;
  for (const std::string& word : words) {
    out += out.empty() ? "" : " ";
    out += hide_next && !word.starts_with("-") ? kHidden : redacted_word(word);
    hide_next =
        word.starts_with("-") && word.find('=') == std::string::npos && names_a_secret(word);
  }
  return out;
}

std::string redacted(const std::string& line) {
  std::string out, word;
  bool hide_next = false;
  const auto flush = [&] {
    if (word.empty()) return;
    out += hide_next ? kHidden : redacted_word(word);
    hide_next =
        word.size() > 1 && (word.back() == ':' || word.back() == '=') && names_a_secret(word);
    word.clear();
  };
  for (const char c : line) {
    if (c == ' ' || c == '\t' || c == '"' || c == '\'' || c == ',') {
      flush();
      out += c;
    } else {
      word += c;
    }
  }
  flush();
  return out;
}

}  // namespace headway
