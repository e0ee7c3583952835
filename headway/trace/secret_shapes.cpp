#include "headway/trace/secret_shapes.h"

#include <algorithm>

#include "headway/trace/characters.h"
#include "headway/trace/harmless.h"
#include "headway/trace/messages.h"
#include "headway/trace/plain_words.h"

namespace headway {
namespace {

constexpr size_t kLongRun = 24;  // letters and digits; shorter text has no clear shape
constexpr size_t kLongHex = 32, kShortPiece = 8;
constexpr double kRandomTurns = 0.25;  // changes between digits, capitals and the rest, per letter

bool is_base64(char c) {
  return is_alnum(c) || c == '+' || c == '/' || c == '=' || c == '_' || c == '-';
}

struct Token {
  std::string_view head;
  size_t least;  // characters after it
};
// By the services that issue them. All but the first two end in a character rare in words.
constexpr Token kTokens[] = {
    {"AKIA", 12},     {"ASIA", 12},     {"ghp_", 16},     {"gho_", 16},
    {"ghu_", 16},     {"ghs_", 16},     {"ghr_", 16},     {"github_pat_", 16},
    {"glpat-", 12},   {"gldt-", 12},    {"hf_", 16},      {"sk-", 16},
    {"sk_live_", 10}, {"sk_test_", 10}, {"pk_live_", 10}, {"rk_live_", 10},
    {"xoxb-", 8},     {"xoxp-", 8},     {"xoxa-", 8},     {"xoxs-", 8},
    {"xoxr-", 8},     {"xapp-", 8},     {"AIza", 30},     {"ya29.", 16},
    {"eyJ", 16},      {"npm_", 20},     {"pypi-", 16},    {"wandb_v1_", 10},
    {"dop_v1_", 16},  {"SG.", 16},      {"shpat_", 16},   {"dckr_pat_", 10},
    {"r8_", 20},      {"gsk_", 16},     {"nvapi-", 16},   {"AGE-SECRET-KEY-", 8}};

bool holds_token(std::string_view run) {
  for (const Token& token : kTokens) {
    for (size_t at = run.find(token.head); at != std::string_view::npos;
         at = run.find(token.head, at + 1)) {
      const std::string_view rest = run.substr(at + token.head.size());
      const bool in_a_word = at > 0 && is_lower(run[at - 1]) && is_lower(token.head[0]);
      const bool digits = std::any_of(rest.begin(), rest.end(), is_digit);
      const bool capitals = std::any_of(rest.begin(), rest.end(), is_upper);
      if (!in_a_word && rest.size() >= token.least && (digits || capitals)) return true;
    }
  }
  return false;
}

// "commit 9fceb02d", "expected checksum x, got y": after such a word in the same line.
bool follows_a_hash_word(std::string_view text, size_t at) {
  constexpr size_t kFar = 100;
  std::string_view before = text.substr(0, at);
  before = before.substr(before.rfind('\n') + 1);
  if (before.size() > kFar) before = before.substr(before.size() - kFar);
  return names_a_hash(before);
}

// "Wav2Vec2ForSequenceClassification": words in a row, separated by single digits.
bool reads_as_words(std::string_view piece) {
  size_t words = 0;
  for (size_t at = 0; at < piece.size(); ++words) {
    const size_t end = end_of(piece, at, is_letter), next = end_of(piece, end, is_digit);
    if (end < at + 3 || next > end + 2 || !is_spoken(piece.substr(at, end - at))) return false;
    at = next;
  }
  constexpr size_t kUsualLength = 6;  // with its number
  return piece.size() >= kUsualLength * words;
}

// Random letters change between digits, capitals and small letters at every other place; words and
// paths do not. Short pieces may be a version or the number of a file.
bool looks_random(std::string_view run) {
  size_t all = 0, hex = 0, digits = 0, letters = 0;
  double turns = 0;
  for (size_t at = 0; at < run.size();) {
    const size_t end = end_of(run, at, is_alnum);
    const std::string_view piece = run.substr(at, end - at);
    at = std::max(end, at + 1);
    const bool word = is_spoken_name(piece) || reads_as_words(piece);
    const bool counts = piece.size() > kShortPiece && !word;
    int last = 0;
    for (const char c : piece) {
      const int kind = is_digit(c) ? 1 : is_upper(c) ? 2 : 3;
      ++all;
      digits += kind == 1;
      hex += kind == 1 || (lowered(c) >= 'a' && lowered(c) <= 'f');
      letters += counts;
      turns += counts && last != 0 && kind != last;
      last = kind;
    }
  }
  if (all >= kLongHex && hex == all && digits > 0 && digits < all) return true;
  return letters >= kLongRun && turns >= kRandomTurns * double(letters);
}

}  // namespace

bool is_shaped(std::string_view word) {
  if (holds_token(word)) return true;
  const size_t dot = std::min(word.rfind('.'), word.size() - 1);
  const bool path =
      word.find('/') != std::string_view::npos || is_file_ending(word.substr(dot + 1));
  return looks_random(path ? without_hashes(word) : std::string(word));
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
    const size_t ending = text.substr(end, 1) == "." ? end_of(text, end + 1, is_alnum) : end;
    const bool file = ending > end + 1 && is_file_ending(text.substr(end + 1, ending - end - 1));
    const std::string_view whole = text.substr(at, (file ? ending : end) - at);
    const bool hash = is_hash(run) && follows_a_hash_word(text, at);
    at = end;
    if (hash || !is_shaped(whole)) {
      out += run;
      continue;
    }
    out += kHidden;
    // A JWT continues after its dots.
    while (at + 1 < text.size() && text[at] == '.' && is_base64(text[at + 1]) &&
           run.find("eyJ") != std::string_view::npos) {
      at = end_of(text, at + 1, is_base64);
    }
  }
  return out;
}

std::string hide_private_keys(std::string text) {
  constexpr std::string_view kBegin = "-----BEGIN ", kKey = "PRIVATE KEY", kEnd = "-----END ";
  for (size_t at = 0; (at = text.find(kBegin, at)) != std::string::npos; ++at) {
    const size_t head = text.find("-----", at + kBegin.size());
    if (head == std::string::npos) break;
    if (text.substr(at, head - at).find(kKey) == std::string::npos) continue;
    const size_t tail = text.find(kEnd, head);
    const size_t close = tail == std::string::npos ? tail : text.find("-----", tail + kEnd.size());
    text.replace(at, close == std::string::npos ? std::string::npos : close + 5 - at, kHidden);
  }
  return text;
}

size_t end_of_login(std::string_view behind_scheme) {
  const size_t host = behind_scheme.find_first_of("/?#");
  const std::string_view head = behind_scheme.substr(0, host);
  if (head.find(':') != std::string_view::npos) {
    const size_t at = behind_scheme.rfind('@');
    return at == std::string_view::npos ? 0 : at;
  }
  const size_t at = head.rfind('@');
  return at == std::string_view::npos ? 0 : at;
}

}  // namespace headway
