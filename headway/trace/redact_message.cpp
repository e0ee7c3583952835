#include <algorithm>
#include <array>

#include "headway/trace/characters.h"
#include "headway/trace/harmless.h"
#include "headway/trace/messages.h"
#include "headway/trace/plain_words.h"
#include "headway/trace/redact.h"
#include "headway/trace/secret_shapes.h"

namespace headway {
namespace {

constexpr std::string_view kAround = "()[]{}<>,.;:!?\"'`*#=|&~-+";

template <size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_all(std::string_view text, bool (*is)(char)) {
  return std::all_of(text.begin(), text.end(), is);
}

// "Sch#loss", "me@host": a sign between letters that only appears in passwords and logins.
bool is_joined_oddly(std::string_view text) {
  for (size_t i = 1; i + 1 < text.size(); ++i)
    if (std::string_view("@#!$^&").find(text[i]) != std::string_view::npos &&
        is_alnum(text[i - 1]) && is_alnum(text[i + 1]))
      return true;
  return false;
}

// What comes before the host: "'Ru3be@mirror.example.org'" is the end of a login.
size_t end_of_login_in(std::string_view core) {
  const size_t at = core.rfind('@');
  if (at == core.npos || at == 0) return 0;
  const std::string_view host = core.substr(at + 1);
  const bool named = !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
    return is_alnum(c) || std::string_view(".-:/_").find(c) != std::string_view::npos;
  });
  return named ? at : 0;
}

// Pieces between signs, each of them a word of the list or a number.
bool is_plain_piece(std::string_view text, bool strict) {
  if (is_everyday_compound(text) || is_joined_oddly(text)) return false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = end_of(text, at, [](char c) { return is_alnum(c); });
    const std::string_view piece = text.substr(at, end - at);
    const bool number = is_all(piece, is_digit);
    if (!piece.empty() && (number ? strict && piece.size() > 3 : !is_plain_name(piece)))
      return false;

    at = std::max(end, at + 1);
  }
  return true;
}

// "torch.nn.Module", "pixel_values", "out-of-range", "can't"
bool is_spoken_piece(std::string_view text) {
  if (std::any_of(text.begin(), text.end(), is_digit)) return is_plain_piece(text, false);
  for (size_t at = 0; at < text.size();) {
    const size_t end = end_of(text, at, is_alnum);
    const std::string_view piece = text.substr(at, end - at);
    const bool letters = is_all(piece, is_letter);
    if (!piece.empty() && !(letters ? is_spoken(piece) : is_plain_name(piece))) return false;
    if (end < text.size() && std::string_view("._-'()").find(text[end]) == std::string_view::npos)
      return false;
    at = std::max(end, at + 1);
  }
  return true;
}

// After these words Python quotes names in the code, not values.
bool names_code(std::string_view before, std::string_view after) {
  before.remove_prefix(end_of(before, 0, [](char c) { return c == '<' || c == '('; }));
  constexpr std::array<std::string_view, 12> kBefore = {
      "choice:",   "choices:", "attribute", "module", "named",      "name",
      "argument:", "argument", "class",     "layer",  "arguments:", "function"};
  const bool doer = before.size() > 6 && (before.ends_with("er") || before.ends_with("or")) &&
                    is_known_name(before);  // Unknown optimizer 'x'
  return doer || is_one_of(before, kBefore) || after == "object";
}

// Words for the topic of the sentence: not secret themselves, unless they are quoted.
bool is_topic(std::string_view word) {
  constexpr std::array<std::string_view, 10> kWords = {
      "Errno",       "signature",      "password",       "Password", "passphrase",
      "credentials", "authentication", "Authentication", "login",    "Unauthorized"};
  return is_one_of(word, kWords);
}

// "specified", "missing", "automatically": endings that are typical of words in sentences.
bool is_inflected(std::string_view word) {
  constexpr std::array<std::string_view, 24> kEndings = {
      "ing",  "ed",    "tion", "tions", "sion", "ly",   "able", "ible",
      "ment", "ments", "ness", "ity",   "ize",  "izes", "ful",  "less",
      "ous",  "ive",   "ance", "ence",  "ency", "ical", "ify",  "ally"};
  if (word.ends_with("s") && is_word_of_speech(word.substr(0, word.size() - 1))) return true;
  return word.size() >= 5 && is_all(word, is_letter) && is_all(word.substr(1), is_lower) &&
         is_spoken(word) && std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view e) {
           return word.ends_with(e);
         });
}

// After these words comes the secret itself: "the token is x", "log in with x".
bool tells(std::string_view before) {
  constexpr std::array<std::string_view, 10> kWords = {"is",    "was", "be",    "with",    "as",
                                                       "using", "got", "tried", "default", "e.g."};
  if (before.ends_with("Error:") || before.ends_with("Exception:")) return false;
  if (before.size() > 4 && before.ends_with(":") && !names_a_secret(before) &&
      is_all(before.substr(0, before.size() - 1), is_upper))
    return false;  // "NOTE:"
  return is_one_of(before, kWords) || before.ends_with(":") || before.ends_with("=") ||
         names_a_secret(before);
}

struct Word {
  std::string_view before, after;  // its neighbours
  Care care = Care::kSpoken;
  bool quoted = false;
  bool code = false;    // between backquotes
  bool hashes = false;  // the line mentions hashes
};

// KeyError: 'api_key', argument 'use_auth_token': the name of a secret, without its value.
bool is_quoted_name(std::string_view core, std::string_view before) {
  if (!names_a_secret(core) || !is_made_of_names(core)) return false;
  if (words_of(core).size() > 1 && (before == "key" || before == "Key")) return true;
  return !names_a_secret(before.ends_with("Error:") ? "" : before) && !tells(before);
}

// "TODO: rotate the token": the first word of a comment.
bool is_heading(std::string_view core, const Word& word) {
  const bool first = std::none_of(word.before.begin(), word.before.end(), is_alnum);
  return first && core.size() <= 12 && !word.after.empty() && is_all(core, is_upper);
}

// "file.cpp:12"
std::string_view without_line(std::string_view core) {
  size_t end = core.size();
  while (end > 0 && is_digit(core[end - 1])) --end;
  return end > 0 && end < core.size() && core[end - 1] == ':' ? core.substr(0, end - 1) : core;
}

bool is_harmless(std::string_view core, const Word& word) {
  if (core.empty() || is_switch(core)) return true;
  if (word.quoted && end_of_login_in(core) > 0) return false;
  if (is_plain_path(without_line(core)) && word.care == Care::kSpoken) return true;
  if (is_hash(core) && word.hashes) return true;
  if (is_shaped(core)) return false;
  const bool alone = word.before.empty() && word.after.empty();
  if (word.quoted && is_quoted_name(core, word.before)) return true;
  if (!word.quoted && !alone && is_heading(core, word)) return true;
  if (word.care == Care::kSecret && !names_a_secret(word.before)) {
    if (!word.quoted && (is_code_name(core) || is_constant(core) ||
                         (is_inflected(core) && !alone && !tells(word.before))))
      return true;
    if (word.code && is_spoken_piece(core)) return true;
  }
  if (is_plain_piece(core, word.care == Care::kSecret)) return true;
  if (!word.quoted && !alone && word.care != Care::kListed &&
      (is_word_of_speech(core) || (is_command_word(core) && !tells(word.before))))
    return true;
  if (!word.quoted && (is_topic(core) || (is_made_of_names(core) && !tells(word.before))))
    return true;
  if (word.before == "Key" && is_code_name(core)) return true;  // of a dict
  if (is_plain_path(without_line(core)) && core[0] == '/' && core.find('?') == core.npos)
    return true;
  if (word.care == Care::kListed && word.quoted && is_code_name(core)) return true;
  if (word.care > Care::kTold || (word.care == Care::kTold && tells(word.before)))
    return is_inflected(core) && !word.quoted && word.care == Care::kTold;
  if (is_short_number(core)) return true;
  if (core.starts_with("0x") && core.size() <= 14 && !word.quoted) return true;
  if (const size_t arrow = core.find("->"); arrow != core.npos && !word.quoted)
    return is_harmless(core.substr(0, arrow), word) && is_harmless(core.substr(arrow + 2), word);
  if (is_code_name(core)) return true;
  if (names_code(word.before, word.after) && is_spoken_name(core)) return true;
  if (!is_spoken_piece(core)) return false;
  return !word.quoted || names_code(word.before, word.after);
}

// "ValueError:", "h5py.h5e.Error:", the first word of an exception
bool is_class(std::string_view chunk) {
  if (!chunk.ends_with(":") || is_shaped(chunk)) return false;
  const std::string_view name = chunk.substr(0, chunk.size() - 1);
  const std::string_view last = name.substr(name.rfind('.') + 1);
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return is_alnum(c) || c == '_' || c == '.'; }) &&
         is_spoken_piece(last) && (last.ends_with("Error") || last.ends_with("Exception"));
}

bool is_around(char c) { return kAround.find(c) != std::string_view::npos; }

std::string shown(std::string_view chunk, const Word& word) {
  size_t begin = end_of(chunk, 0, is_around), end = chunk.size();
  while (begin > 0 && chunk[begin - 1] == '.') --begin;              // ".npy", "../x"
  const bool address = chunk.find("://") != std::string_view::npos;  // may end in "=***"
  while (end > begin && is_around(chunk[end - 1]) && !(address && chunk[end - 1] == '*')) --end;
  const std::string_view core = chunk.substr(begin, end - begin);
  std::string middle;
  if (core.find("://") != std::string_view::npos) {
    middle = redact_url(core);
  } else {
    middle = is_harmless(core, word) ? core : kHidden;
  }
  return std::string(chunk.substr(0, begin)) + middle + std::string(chunk.substr(end));
}

// Does it mention a secret? "the padding token" does not, nor does "missing key(s)".
bool speaks_of_secrets(std::string_view line) {
  std::string_view before, chunk;
  for (size_t at = 0; at < line.size();) {
    const size_t begin = end_of(line, at, is_blank);
    at = end_of(line, begin, [](char c) { return !is_blank(c); });
    const std::string_view after = line.substr(begin, at - begin);
    if (speaks_of_a_secret(before, chunk, after)) return true;
    before = chunk, chunk = after;
  }
  return speaks_of_a_secret(before, chunk, "");
}

bool is_option(std::string_view chunk) {
  return chunk.size() > 1 && chunk[0] == '-' && (is_letter(chunk[1]) || chunk[1] == '-');
}

// "--token-mixer:"
bool is_long_option(std::string_view chunk) {
  if (chunk.ends_with(":") || chunk.ends_with(",")) chunk.remove_suffix(1);
  return chunk.starts_with("--") && chunk.size() > 4 && is_spoken_name(chunk.substr(2)) &&
         std::all_of(chunk.begin(), chunk.end(),
                     [](char c) { return is_lower(c) || c == '-' || c == '_'; });
}

// Does it open or close a quotation of several words?
bool opens(std::string_view chunk, char quote) {
  size_t first = chunk.find_first_not_of("([{=:");
  if (first == std::string_view::npos) return false;
  if (chunk.substr(first + 1, 1) == std::string_view(&quote, 1) && is_letter(chunk[first])) ++first;
  if (chunk[first] != quote) return false;
  return chunk.find(quote, first + 1) == std::string_view::npos;
}

// "  db_password: two: words" in a file that an error quotes: where the value begins, which
// continues to the end of the line. 0 if it is anything else.
size_t value_of_secret(std::string_view line) {
  const auto before_name = [](char c) {
    return is_blank(c) || is_quote(c) || c == '-' || c == '{';
  };
  const size_t begin = end_of(line, 0, before_name);
  const size_t end =
      end_of(line, begin, [](char c) { return is_alnum(c) || c == '_' || c == '-'; });
  const std::string_view name = line.substr(begin, end - begin);
  const size_t sign = end_of(line, end, [](char c) { return c == ' ' || is_quote(c); });
  if (sign >= line.size() || (line[sign] != ':' && line[sign] != '=')) return 0;
  if (!names_a_secret(name) || name.ends_with("Error") || name.ends_with("Exception")) return 0;
  const size_t value = end_of(line, sign + 1, is_blank);
  const std::string_view told = line.substr(value);
  const bool key =
      words_of(name).back() == "key" && is_code_name(told);  // full_key: optim.lr_decay
  return told.empty() || key || may_stay_behind_secret(name, told) ? 0 : value;
}

}  // namespace

std::string redact_sentence(std::string_view line, Care care) {
  if (care != Care::kTold && speaks_of_secrets(line)) care = Care::kSecret;
  const bool hashes = care != Care::kSecret && names_a_hash(line);
  bool code = false;  // between backquotes
  struct Chunk {
    size_t begin, end;
  };
  std::vector<Chunk> chunks;
  for (size_t at = 0; at < line.size();) {
    const size_t begin = end_of(line, at, is_blank);
    at = end_of(line, begin, [](char c) { return !is_blank(c); });
    if (at > begin) chunks.push_back({begin, at});
  }
  const auto text = [&](size_t i) {
    return i < chunks.size() ? line.substr(chunks[i].begin, chunks[i].end - chunks[i].begin)
                             : std::string_view();
  };
  std::string out;
  char quotation = '\0';  // the open quote, if a quotation has several words
  size_t done = 0;
  for (size_t i = 0; i < chunks.size(); ++i) {
    const std::string_view chunk = text(i);
    out += line.substr(done, chunks[i].begin - done);
    done = chunks[i].end;
    for (const char quote : {'\'', '"'})
      if (quotation == '\0' && opens(chunk, quote)) quotation = quote;
    const bool quoted =
        quotation != '\0' || chunk.find_first_of("'\"") < std::min<size_t>(chunk.size(), 2);
    const std::string_view before = i > 0 ? text(i - 1) : "";
    const bool command = is_option(chunk) || is_option(before);  // "mysql -u me -pswordfish"
    if (i == 0 && is_class(chunk)) {
      out += chunk;
      continue;
    }
    if (is_long_option(chunk)) {
      out += chunk;
      continue;
    }
    const bool listed = command || quotation != '\0';
    const auto ticks = std::count(chunk.begin(), chunk.end(), '`');
    out += shown(chunk, {before, text(i + 1), std::max(care, listed ? Care::kListed : care), quoted,
                         code || ticks > 0, hashes});
    code ^= ticks % 2 == 1;
    if (quotation != '\0' && !opens(chunk, quotation) &&
        chunk.find(quotation) != std::string_view::npos)
      quotation = '\0';
  }
  return out + std::string(line.substr(done));
}

std::string redact_exception(std::string_view text) {
  constexpr size_t kIndent = 4;  // of code in a traceback
  const std::string whole = hide_private_keys(std::string(text));
  text = whole;
  std::string out;
  bool below_place = false;  // after File "train.py", line 3, in main
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    const size_t begin = end_of(line, 0, [](char c) { return c == ' '; });
    out += at > 0 ? "\n" : "";
    const size_t value = at > 0 && !below_place ? value_of_secret(line) : 0;
    if (value > 0) {
      out += std::string(line.substr(0, value)) + std::string(kHidden);
    } else {
      out += begin >= kIndent ? std::string(begin, ' ') + redact_source(line.substr(begin))
                              : redact_sentence(line, Care::kSpoken);
    }
    below_place = line.substr(begin).starts_with("File \"");
    at = end + 1;
  }
  return hide_shaped(out);
}

}  // namespace headway
