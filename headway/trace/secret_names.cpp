#include <algorithm>
#include <array>

#include "headway/trace/characters.h"
#include "headway/trace/messages.h"
#include "headway/trace/redact.h"

namespace headway {
namespace {

template <size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Words that are only used for secrets.
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
// Also inside a longer word: PGPASSWORD, myapikey. But not in "secretary".
constexpr std::array<std::string_view, 9> kInside = {"password",   "passwd",     "passphrase",
                                                     "secret",     "credential", "apikey",
                                                     "privatekey", "accesskey",  "pgpass"};
constexpr std::array<std::string_view, 3> kOnlyAlike = {"secretary", "secretaries", "secretariat"};
// Secrets, unless one of the harmless words is beside them.
constexpr std::array<std::string_view, 4> kPerhaps = {"key", "token", "pass", "pin"};
constexpr std::array<std::string_view, 80> kHarmless = {
    "dim",       "dims",       "id",         "ids",     "size",    "len",       "length",
    "pad",       "padding",    "eos",        "bos",     "unk",     "mask",      "masks",
    "sep",       "cls",        "special",    "heads",   "head",    "num",       "max",
    "min",       "per",        "type",       "value",   "values",  "embedding", "embed",
    "query",     "frame",      "sort",       "image",   "label",   "feature",   "group",
    "count",     "index",      "layer",      "proj",    "weight",  "bias",      "class",
    "position",  "limit",      "budget",     "loss",    "window",  "sequence",  "text",
    "memory",    "forward",    "backward",   "through", "first",   "second",    "missing",
    "duplicate", "unexpected", "input",      "next",    "column",  "columns",   "rng",
    "prng",      "random",     "primary",    "foreign", "indices", "dropout",   "partition",
    "dict",      "masking",    "embeddings", "lengths", "mixing",  "oov",       "sos",
    "start",     "end",        "stop"};
constexpr std::array<std::string_view, 16> kDoubtless = {
    "api",  "access",  "auth",    "private", "ssh",    "hub",      "account",      "encryption",
    "sign", "refresh", "session", "bot",     "unlock", "security", "verification", "recovery"};
// A key_holder is not a key, but a token_string is still a token.
constexpr std::array<std::string_view, 24> kStill = {
    "string", "str",  "content", "data",   "env",  "var",  "header",  "raw",
    "plain",  "old",  "new",     "prod",   "dev",  "test", "default", "inline",
    "bytes",  "json", "arg",     "phrase", "word", "code", "file",    "path"};

// How long, how many or of which kind, not what: "password_length", "auth_method".
constexpr std::array<std::string_view, 18> kMeasures = {
    "dim", "dims",   "length",  "len",  "size",   "count",   "rounds",  "limit",    "strength",
    "ttl", "expiry", "timeout", "mode", "method", "backend", "enabled", "required", "provider"};

bool is_strong(const std::string& word) {
  if (is_one_of(word, kPerhaps) || is_one_of(word, kOnlyAlike)) return false;
  return is_one_of(word, kSecrets) ||
         std::any_of(kInside.begin(), kInside.end(),
                     [&](std::string_view part) { return word.find(part) != std::string::npos; });
}

// Judges a name by its words: the last one says what it is.
bool is_name_of_secret(const std::vector<std::string>& words) {
  const auto any = [&](const auto& list) {
    return std::any_of(words.begin(), words.end(),
                       [&](const std::string& word) { return is_one_of(word, list); });
  };
  if (words.empty() || is_one_of(words.back(), kMeasures)) return false;
  if (std::any_of(words.begin(), words.end(), is_strong)) return true;
  const bool doubtless = any(kDoubtless);
  if (doubtless && any(std::array<std::string_view, 3>{"keys", "tokens", "code"})) return true;
  if (!any(kPerhaps) || (any(kHarmless) && !doubtless)) return false;
  auto last = words.rbegin();
  while (last->size() <= 2 && last + 1 != words.rend()) ++last;
  return doubtless || is_one_of(*last, kPerhaps) || is_one_of(*last, kStill);
}

}  // namespace

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> out;
  bool inside = false;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool letter = is_letter(name[i]);
    // Also after several capitals in a row: SMTPError.
    const bool begins = letter && inside && is_upper(name[i]);
    const bool hump = begins && (is_lower(name[i - 1]) ||
                                 (i + 1 < name.size() && is_lower(name[i + 1]) && i > 1));
    if (letter && (!inside || hump)) out.emplace_back();
    if (letter) out.back() += lowered(name[i]);
    inside = letter;
  }
  return out;
}

bool names_one_of(std::string_view name, std::span<const std::string_view> words) {
  const std::vector<std::string> own = words_of(name);
  return std::any_of(own.begin(), own.end(), [&](const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  });
}

bool names_a_secret(std::string_view name) {
  const auto inside = [](char c) {
    return !is_blank(c) && std::string_view(":=,;/&?@\"'()[]{}|").find(c) == std::string_view::npos;
  };
  for (size_t at = 0; at < name.size();) {
    const size_t end = end_of(name, at, inside);
    if (end > at && is_name_of_secret(words_of(name.substr(at, end - at)))) return true;
    at = end + 1;
  }
  return false;
}

bool is_secret_word(std::string_view word) {
  return is_one_of(word, kSecrets) || is_one_of(word, kPerhaps);
}

bool speaks_of_a_secret(std::string_view before, std::string_view word, std::string_view after) {
  if (!names_a_secret(word) || word.find("(s)") != std::string_view::npos) return false;
  const std::vector<std::string> words = words_of(word), left = words_of(before),
                                 right = words_of(after);
  if (words.size() != 1 || !is_one_of(words[0], kPerhaps)) return true;
  const bool harmless = (!left.empty() && is_one_of(left.back(), kHarmless)) ||
                        (!right.empty() && is_one_of(right.front(), kHarmless));
  return !harmless;
}

bool names_a_hash(std::string_view name) {
  constexpr std::array<std::string_view, 13> kWords = {
      "ref",    "hash",     "hashes",    "sha", "md",     "checksum",   "checksums",
      "commit", "revision", "revisions", "rev", "digest", "fingerprint"};
  const std::vector<std::string> words = words_of(name);
  return !names_a_secret(name) &&
         std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return is_one_of(word, kWords); });
}

}  // namespace headway
