#include "headway/trace/harmless.h"

#include <algorithm>
#include <array>

#include "headway/trace/characters.h"
#include "headway/trace/plain_words.h"
#include "headway/trace/redact.h"

namespace headway {
namespace {

constexpr size_t kLongestNumber = 9, kLongestIndex = 14, kLongestName = 64;
constexpr size_t kMostTiny = 2;
constexpr size_t kMostTurns = 3;  // changes between letters and digits, without a sign between them

bool is_vowel(char c) { return std::string_view("aeiouyAEIOUY").find(c) != std::string_view::npos; }

template <typename Is, typename Part>
bool all_parts(std::string_view text, Is parts_words, Part is_good) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = end_of(text, at, [&](char c) { return !parts_words(c); });
    if (end > at && !is_good(text.substr(at, end - at))) return false;
    at = end + 1;
  }
  return true;
}

// "conv2d", "patch16", "8b": letters and digits by turns; `is_good` judges the letters.
template <typename Letters>
bool is_mixed(std::string_view part, size_t longest_number, Letters is_good) {
  size_t turns = 0, before = 0;
  for (size_t at = 0; at < part.size(); ++turns) {
    const bool digits = is_digit(part[at]);
    const size_t end =
        end_of(part, at, [&](char c) { return digits ? is_digit(c) : is_letter(c); });
    if (end == at) return false;  // neither
    const std::string_view run = part.substr(at, end - at);
    if (digits ? run.size() > longest_number : !is_good(run)) return false;
    // "word01234567abcd", "frog123xyz"
    if (!digits && run.size() > 1 && at > before && before > 0 && !is_plain_word(run)) return false;
    if (!digits && run.size() > 1 && before > 4) return false;
    before = digits ? run.size() : 0;
    at = end;
  }
  return turns <= kMostTurns;
}

bool is_plain_run(std::string_view letters) {
  if (letters.size() <= 2 || is_plain_word(letters)) return true;
  const std::vector<std::string> words = words_of(letters);
  return words.size() > 1 && std::all_of(words.begin(), words.end(), [](const std::string& word) {
           return word.size() <= 2 || is_plain_word(word);
         });
}

// Words that often have a number after them: "resnet50", but not "flower99".
bool is_numbered_run(std::string_view letters) {
  if (letters.size() <= 2 || is_numbered_word(letters)) return true;
  return words_of(letters).size() > 1 && is_plain_run(letters);
}

// "p4ss", "a1B2c3": letters around digits need a word of at least three letters.
bool has_a_word(std::string_view part) {
  size_t runs = 0, longest = 0;
  for (size_t at = 0; at < part.size(); ++runs) {
    at = end_of(part, at, [](char c) { return !is_letter(c); });
    const size_t end = end_of(part, at, is_letter);
    if (end == at) break;
    longest = std::max(longest, end - at);
    at = end;
  }
  return runs <= 1 || longest >= 3;
}

bool is_name_sign(char c) {
  return std::string_view("-_.:,+/~[] ").find(c) != std::string_view::npos;
}

// "Zx9-Qp4-Lm2": counts parts of one or two letters with a digit.
size_t tiny_parts(std::string_view text) {
  size_t tiny = 0;
  all_parts(text, is_name_sign, [&](std::string_view part) {
    const auto letters = std::count_if(part.begin(), part.end(), is_letter);
    const bool small = std::any_of(part.begin(), part.end(), is_lower);
    const bool large = std::any_of(part.begin(), part.end(), is_upper);
    const bool digit = std::any_of(part.begin(), part.end(), is_digit);
    if (digit && letters > 0 && letters <= 2) tiny += small && large ? kMostTiny + 1 : 1;
    return true;
  });
  return tiny;
}

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

bool is_short_hash(std::string_view part) {
  return part.size() <= 8 && std::all_of(part.begin(), part.end(), is_hex);
}

bool is_uuid(std::string_view text) {
  constexpr std::string_view kForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  if (text.size() != kForm.size()) return false;
  for (size_t i = 0; i < text.size(); ++i)
    if (kForm[i] == 'x' ? !is_hex(text[i]) : text[i] != '-') return false;
  return true;
}

// "mlx5_0", "ib0"
bool is_device(std::string_view part) {
  const size_t letters = end_of(part, 0, is_lower);
  return letters > 0 && letters <= 3 && part.size() <= 8 &&
         end_of(part, letters, [](char c) { return is_digit(c) || c == '_'; }) == part.size();
}

// "8hx2kq1x": the name of a temporary file
bool is_made_up(std::string_view part) {
  return part.size() <= 8 &&
         std::all_of(part.begin(), part.end(), [](char c) { return is_digit(c) || is_lower(c); });
}

// "wd5e", "in21k", "ra2": a few small letters, a number, perhaps one letter.
bool is_coded_setting(std::string_view part) {
  const size_t letters = end_of(part, 0, is_lower), digits = end_of(part, letters, is_digit);
  return letters > 0 && letters <= 3 && digits > letters && digits <= letters + 5 &&
         (digits == part.size() || (digits + 1 == part.size() && is_lower(part[digits])));
}

// The end of the placeholder "%05d", "%(name)s", "{epoch:02d}", "${RANK}", "$i" at `at`, or `at`.
size_t end_of_blank_to_fill(std::string_view text, size_t at) {
  const auto is_name = [](char c) { return is_alnum(c) || c == '_'; };
  const char sign = text[at];
  size_t name = at + 1;
  if (sign == '%' && text.substr(name, 1) != "(") {
    const size_t letter = end_of(text, name, [](char c) { return is_digit(c) || c == '.'; });
    if (letter >= text.size() || !is_letter(text[letter])) return at;
    return letter + 1 < text.size() && is_alnum(text[letter + 1]) ? at : letter + 1;
  }
  if (sign != '%' && sign != '{' && sign != '$') return at;
  const bool bare = sign == '$' && text.substr(name, 1) != "{";
  if (sign != '{' && !bare) ++name;
  const size_t name_end = end_of(text, name, is_name);
  const std::string_view word = text.substr(name, name_end - name);
  if (!is_plain_name(word)) return at;
  if (bare) {
    const bool variable = word.size() == 1 || std::none_of(word.begin(), word.end(), is_lower);
    return !word.empty() && variable ? name_end : at;
  }
  const size_t close = end_of(text, name_end, [](char c) {
    return is_digit(c) || c == ':' || c == '.' || c == '>' || c == '<';
  });
  if (sign == '%')
    return text.substr(close, 2) == ")s" || text.substr(close, 2) == ")d" ? close + 2 : at;
  const size_t brace =
      close < text.size() && is_lower(text[close]) && close > name_end ? close + 1 : close;
  return text.substr(brace, 1) == "}" ? brace + 1 : at;
}

// "expandable_segments"
bool is_long_name(std::string_view part) {
  return part.find('_') != part.npos && is_spoken_name(part) && part[0] != '_' &&
         std::all_of(part.begin(), part.end(), [](char c) { return is_lower(c) || c == '_'; });
}

bool has_ending(std::string_view text) {
  const size_t dot = text.rfind('.');
  return dot != std::string_view::npos && is_file_ending(text.substr(dot + 1));
}

}  // namespace

bool is_short_number(std::string_view text) {
  if (text.empty() || text.size() > 40) return false;
  if (text.front() == '-' || text.front() == '+') text.remove_prefix(1);
  bool any = false;
  const auto is_sign = [](char c) {
    return std::string_view(".,:;x*/%-+()[] ").find(c) != std::string_view::npos;
  };
  const bool good = all_parts(text, is_sign, [&](std::string_view part) {
    const size_t digits = end_of(part, 0, is_digit);
    const std::string_view unit = part.substr(digits);
    any |= digits > 0;
    if (digits == 0 || digits > kLongestNumber) return false;
    if (unit.starts_with("e") && end_of(unit, 1, is_digit) == unit.size()) return true;
    return unit.size() <= 3 && std::all_of(unit.begin(), unit.end(), is_letter);
  });
  return good && any;
}

bool is_everyday_compound(std::string_view text) {
  const std::vector<std::string> words = words_of(text);
  const bool several = words.size() > 1 || std::any_of(text.begin(), text.end(), is_digit);
  return several && std::any_of(words.begin(), words.end(),
                                [](const std::string& word) { return is_everyday_word(word); });
}

bool is_plain_name(std::string_view text) {
  if (is_everyday_compound(text)) return false;
  return text.size() <= kLongestName && tiny_parts(text) <= kMostTiny &&
         all_parts(text, is_name_sign, [](std::string_view part) {
           if (part.size() == 3 && std::all_of(part.begin(), part.end(), is_letter)) return true;
           if (std::all_of(part.begin(), part.end(), is_letter)) return is_plain_run(part);
           return has_a_word(part) && is_mixed(part, kLongestNumber, is_numbered_run);
         });
}

bool is_spoken(std::string_view letters) {
  if (letters.size() <= 4 || is_plain_word(letters)) return true;
  size_t vowels = 0, silent = 0, longest_silence = 0, humps = 1, lone = 0;
  for (size_t i = 0; i < letters.size(); ++i) {
    vowels += is_vowel(letters[i]);
    silent = is_vowel(letters[i]) || is_upper(letters[i]) ? 0 : silent + 1;
    longest_silence = std::max(longest_silence, silent);
    const bool hump = i > 0 && is_upper(letters[i]) && is_lower(letters[i - 1]);
    humps += hump;
    // "bPxR": one small letter, but not "No" or "In"
    lone += hump && (i == 1 || is_upper(letters[i - 2])) && !is_vowel(letters[i - 1]);
  }
  const bool capitals = std::all_of(letters.begin(), letters.end(), is_upper);
  if (capitals) return letters.size() <= 6 || vowels * 5 >= letters.size();
  return letters.size() <= kLongestName && lone <= 1 && vowels * 8 >= letters.size() &&
         longest_silence <= 5 && 2 * letters.size() >= (letters.size() < 12 ? 5 : 7) * humps;
}

bool is_hash(std::string_view text) {
  if (is_uuid(text)) return true;
  return text.size() >= 7 && text.size() <= 64 && std::all_of(text.begin(), text.end(), is_hex) &&
         std::any_of(text.begin(), text.end(), is_digit);
}

std::string without_hashes(std::string_view path) {
  constexpr size_t kUuid = 36;
  if (names_a_secret(path)) return std::string(path);
  std::string out;
  for (size_t at = 0; at < path.size();) {
    const size_t end = end_of(path, at, is_alnum);
    const size_t uuid = std::min(at + kUuid, path.size());
    if (is_uuid(path.substr(at, kUuid)) && (uuid == path.size() || !is_alnum(path[uuid]))) {
      at = uuid;
    } else if (end > at) {
      if (!is_hash(path.substr(at, end - at))) out += path.substr(at, end - at);
      at = end;
    } else {
      out += path[at++];
    }
  }
  return out;
}

bool is_code_name(std::string_view text) {
  for (int digits = 0; digits < 2 && !text.empty() && is_digit(text.back()); ++digits)
    text.remove_suffix(1);  // "NllLossBackward0"
  const std::vector<std::string> words = words_of(text);
  const bool scoped = text.find("::") != text.npos;  // "aten::norm"
  const bool letters = std::all_of(text.begin(), text.end(), [&](char c) {
    return is_letter(c) || c == '_' || c == '.' || (scoped && c == ':');
  });
  return letters && words.size() > 1 && text.size() <= kLongestName &&
         !is_everyday_compound(text) && !names_a_secret(text) && is_spoken_name(text) &&
         std::any_of(words.begin(), words.end(), [](const std::string& word) {
           return word == "id" || (word.size() >= 3 && is_plain_word(word));
         });
}

bool is_constant(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return is_upper(c) || c == '_'; }) &&
         text.find('_') != text.npos && is_spoken_name(text);
}

bool is_switch(std::string_view text) {
  constexpr std::array<std::string_view, 10> kSwitches = {"on", "off",  "true", "false", "yes",
                                                          "no", "none", "null", "0",     "1"};
  std::string small(text.substr(0, 6));
  std::transform(small.begin(), small.end(), small.begin(), lowered);
  return std::find(kSwitches.begin(), kSwitches.end(), small) != kSwitches.end();
}

bool is_name_of_run(std::string_view text, bool listed) {
  if (text.size() > kLongestName || is_everyday_compound(text) || names_a_secret(text))
    return false;
  size_t words = 0, numbers = 0, odd = 0;
  const auto is_sign = [](char c) {
    return std::string_view("-_.").find(c) != std::string_view::npos;
  };
  const bool good = all_parts(text, is_sign, [&](std::string_view part) {
    if (end_of(part, 0, is_digit) == part.size()) return ++numbers, part.size() <= kLongestNumber;
    if (is_coded_setting(part)) return ++odd, true;
    const auto letters = std::count_if(part.begin(), part.end(), is_letter);
    const bool plain = is_mixed(part, kLongestNumber, is_plain_run);
    if (listed && !plain) return false;
    words += letters > 4 || (letters > 2 && plain);
    return has_a_word(part) &&
           is_mixed(part, 4, [](std::string_view run) { return is_spoken(run); });
  });
  return good && words > 0 && words + numbers + odd >= 3 && odd <= words + numbers + 1;
}

bool is_test_id(std::string_view text) {
  const size_t file = text.find(".py::");
  if (file == text.npos || !is_plain_path(text.substr(0, file + 3))) return false;
  const std::string_view name = text.substr(file + 5);
  const size_t cases = std::min(name.find('['), name.size());
  return is_spoken_name(name.substr(0, cases)) &&
         (cases == name.size() || (name.ends_with("]") && is_spoken_name(name.substr(cases))));
}

std::string without_blanks_to_fill(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = end_of_blank_to_fill(text, at);
    if (end == at) out += text[at++];
    at = std::max(at, end);
  }
  return out;
}

bool is_marks(std::string_view text) {
  const auto is_sign = [](char c) {
    return std::string_view("<>|/,_ ").find(c) != std::string_view::npos;
  };
  return text.starts_with("<") && text.ends_with(">") &&
         all_parts(text, is_sign, [](std::string_view part) {
           return std::all_of(part.begin(), part.end(), is_letter) && is_spoken(part);
         });
}

bool is_plain_structure(std::string_view text) {
  constexpr std::string_view kSigns = "{}[]()<>,;|\"' \n:=";
  const auto is_sign = [&](char c) { return kSigns.find(c) != std::string_view::npos; };
  if (text.empty() || names_a_secret(text)) return false;
  return all_parts(text, is_sign, [&](std::string_view part) {
    const auto end = static_cast<size_t>(part.data() - text.data()) + part.size();
    const bool pair = end < text.size() && (text[end] == ':' || text[end] == '=');
    return (pair && is_long_name(part)) || is_short_number(part) || is_switch(part) ||
           is_device(part) || (is_plain_path(part) && part.find('/') != part.npos) ||
           is_code_name(part) || (is_plain_name(part) && !is_everyday_word(part));
  });
}

bool is_spoken_name(std::string_view text) {
  return text.size() <= kLongestName && all_parts(text, is_name_sign, [](std::string_view part) {
           return has_a_word(part) && is_mixed(part, kLongestIndex,
                                               [](std::string_view run) { return is_spoken(run); });
         });
}

bool is_plain_path(std::string_view text) {
  if (text.empty() || text.size() > 1000) return false;
  const bool ending = has_ending(text), slash = text.find('/') != std::string_view::npos;
  const bool from_root = text.starts_with("/");
  const std::string named = ending || slash ? without_hashes(text) : std::string(text);
  const bool deep = from_root && std::count(text.begin(), text.end(), '/') > 2;
  bool known = false;  // a part on the list
  const auto is_sign = [&](char c) {
    return std::string_view("/-_.+=,*?~{}[]%@").find(c) != std::string_view::npos ||
           (from_root && c == ':');
  };
  const bool spoken = all_parts(named, is_sign, [&](std::string_view part) {
    if (std::count_if(part.begin(), part.end(), is_letter) >= 3)
      known |= is_mixed(part, kLongestNumber, is_plain_run);
    if (ending && (part.size() <= 4 || is_short_hash(part))) return true;
    const bool letters = std::all_of(part.begin(), part.end(), is_letter);
    if (is_made_up(part) && (deep || (slash && letters && part.size() <= 6))) return true;
    return has_a_word(part) &&
           is_mixed(part, kLongestIndex, [](std::string_view run) { return is_spoken(run); });
  });
  const bool rooted =
      from_root || text.starts_with("./") || text.starts_with("../") || text.starts_with("~/");
  if (!spoken || (text.find('=') != std::string_view::npos && names_a_secret(text))) return false;
  return ending ||
         (slash && ((rooted && (named == text || known)) || (known && !names_a_secret(text))));
}

}  // namespace headway
