#include "headway/core/print.h"

#include <cstdint>

namespace headway {
namespace {

// Control characters of both sets, and what turns or hides the text behind it.
bool steers(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x61C || c == 0x200E || c == 0x200F ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x206F) || c == 0xFEFF ||
         (c >= 0xE0000 && c <= 0xE007F);
}

std::string in_letters(char32_t c) {
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  if (c == '\r') return "\\r";
  return c < 0x80 ? fmt::format("\\x{:02x}", static_cast<uint32_t>(c))
                  : fmt::format("\\u{:04x}", static_cast<uint32_t>(c));
}

template <typename Newline>
std::string made_visible(std::string_view text, Newline newline) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::string_view before = text;
    const char32_t c = take_character(text);
    if (c == '\n') {
      out += newline(text);
    } else if (c == kNoCharacter) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(before[0]));
    } else if (steers(c)) {
      out += in_letters(c);
    } else {
      out += before.substr(0, before.size() - text.size());
    }
  }
  return out;
}

}  // namespace

char32_t take_character(std::string_view& text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const size_t length = first < 0x80       ? 1
                        : first >> 5 == 6  ? 2
                        : first >> 4 == 14 ? 3
                        : first >> 3 == 30 ? 4
                                           : 0;
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};  // else it is written too long
  bool whole = length > 0 && length <= text.size();
  for (size_t i = 1; whole && i < length; ++i) whole = byte(i) >> 6 == 2;
  char32_t out = !whole ? kNoCharacter : length == 1 ? first : first & (0x7F >> length);
  for (size_t i = 1; whole && i < length; ++i) out = out << 6 | (byte(i) & 0x3F);
  const bool good =
      whole && out >= kLeast[length] && out <= 0x10FFFF && !(out >= 0xD800 && out <= 0xDFFF);
  text.remove_prefix(good ? length : 1);
  return good ? out : kNoCharacter;
}

std::string visible(std::string_view text) {
  return made_visible(text, [](std::string_view) { return "\\n"; });
}

std::string visible_lines(std::string_view text) {
  return made_visible(text, [](std::string_view) { return "\n"; });
}

std::string visible_message(std::string_view text) {
  return made_visible(text, [](std::string_view rest) {
    return rest.empty() || rest.starts_with("  ") ? "\n" : "\n  ";
  });
}

void print_lines(std::FILE* out, std::string_view text) {
  fmt::print(out, "{}", visible_lines(text));
}

}  // namespace headway
