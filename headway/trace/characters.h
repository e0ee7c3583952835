#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Inside trace/: letters and words, the same in every locale.
namespace headway {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
inline bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
inline bool is_letter(char c) { return is_lower(c) || is_upper(c); }
inline bool is_alnum(char c) { return is_digit(c) || is_letter(c); }
inline bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
inline bool is_quote(char c) { return c == '"' || c == '\''; }
inline char lowered(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

// The end of the characters for which `is` holds, starting at `from`.
template <typename Is>
size_t end_of(std::string_view text, size_t from, Is is) {
  while (from < text.size() && is(text[from])) ++from;
  return from;
}

// The words of a name in lower case, split at everything that is not a letter and before capitals
// that begin a word: "dbPassword_2" -> db, password.
std::vector<std::string> words_of(std::string_view name);
// Is one of a name's words on this list?
bool names_one_of(std::string_view name, std::span<const std::string_view> words);

}  // namespace headway
