#include <algorithm>
#include <array>

#include "headway/trace/characters.h"
#include "headway/trace/redact.h"

namespace headway {
namespace {

template <size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Nobody calls anything else so.
constexpr std::array<std::string_view, 50> kSecrets = {
    "mfa",        "tfa",         "psw",           "pswd",
    "sessionid",  "sid",         "unauthorized",  "password",
    "passwords",  "passwd",      "passphrase",    "passcode",
    "passkey",    "pw",          "pwd",           "pass",
    "secret",     "secrets",     "cred",          "creds",
    "credential", "credentials", "apikey",        "accesskey",
    "secretkey",  "privatekey",  "authtoken",     "accesstoken",
    "auth",       "oauth",       "authorization", "authentication",
    "bearer",     "jwt",         "cookie",        "cookies",
    "signature",  "sig",         "sas",           "hmac",
    "otp",        "totp",        "pin",           "salt",
    "pat",        "dsn",         "webhook",       "license",
    "login",      "mnemonic"};
// Also inside a longer word: PGPASSWORD, myapikey.
constexpr std::array<std::string_view, 9> kInside = {"password",   "passwd",     "passphrase",
                                                     "secret",     "credential", "apikey",
                                                     "privatekey", "accesskey",  "pgpass"};
// Secrets, but for these words beside them.
constexpr std::array<std::string_view, 4> kPerhaps = {"key", "token", "pass", "pin"};
constexpr std::array<std::string_view, 60> kHarmless = {
    "dim",        "dims",    "id",        "ids",      "size",    "len",   "length", "pad",
    "padding",    "eos",     "bos",       "unk",      "mask",    "masks", "sep",    "cls",
    "special",    "heads",   "head",      "num",      "max",     "min",   "per",    "type",
    "value",      "values",  "embedding", "embed",    "query",   "frame", "sort",   "image",
    "label",      "feature", "group",     "count",    "index",   "layer", "proj",   "weight",
    "bias",       "class",   "position",  "limit",    "budget",  "loss",  "window", "sequence",
    "text",       "memory",  "forward",   "backward", "through", "first", "second", "missing",
    "unexpected", "input",   "next",      "state"};
constexpr std::array<std::string_view, 12> kDoubtless = {"api",  "access",  "auth",    "private",
                                                         "ssh",  "hub",     "account", "encryption",
                                                         "sign", "refresh", "session", "bot"};

}  // namespace

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> out;
  bool inside = false;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool letter = is_letter(name[i]);
    // Also behind capitals in a row: SMTPError.
    const bool begins = letter && inside && is_upper(name[i]);
    const bool hump = begins && (is_lower(name[i - 1]) ||
                                 (i + 1 < name.size() && is_lower(name[i + 1]) && i > 1));
    if (letter && (!inside || hump)) out.emplace_back();
    if (letter) out.back() += lowered(name[i]);
    inside = letter;
  }
  return out;
}

bool names_a_secret(std::string_view name) {
  const std::vector<std::string> words = words_of(name);
  const auto any = [&](const auto& list) {
    return std::any_of(words.begin(), words.end(),
                       [&](const std::string& word) { return is_one_of(word, list); });
  };
  const bool harmless = any(kHarmless) && !any(kDoubtless);
  for (const std::string& word : words) {
    const bool perhaps = is_one_of(word, kPerhaps);
    if (perhaps ? !harmless : is_one_of(word, kSecrets)) return true;
    for (const std::string_view part : kInside)
      if (word.find(part) != std::string::npos) return true;
  }
  return any(kDoubtless) && any(std::array<std::string_view, 3>{"keys", "tokens", "code"});
}

}  // namespace headway
