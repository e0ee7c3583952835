#include "headway/view/canvas.h"

#include <algorithm>
#include <iterator>

#include "headway/core/print.h"

namespace headway {
namespace {

constexpr char32_t kOdd = U'?';

// Takes exactly one column.
bool is_simple(char32_t c) {
  struct Range {
    char32_t from, to;
  };
  constexpr Range kOthers[] = {
      {0, 0x1F},        {0x7F, 0x9F},     {0x300, 0x36F},   {0x590, 0x8FF},
      {0x1100, 0x115F}, {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},
      {0x20D0, 0x20FF}, {0x2E80, 0xA4CF}, {0xAC00, 0xD7A3}, {0xD800, 0xDFFF},
      {0xF900, 0xFAFF}, {0xFE00, 0xFE6F}, {0xFEFF, 0xFF60}, {0x1F000, kNoCharacter}};
  return std::none_of(std::begin(kOthers), std::end(kOthers),
                      [&](const Range& r) { return c >= r.from && c <= r.to; });
}

void append(std::string& out, char32_t c) {
  const auto put = [&](char32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6), put(0x80 | (c & 0x3F));
  } else {
    put(0xE0 | c >> 12), put(0x80 | (c >> 6 & 0x3F)), put(0x80 | (c & 0x3F));
  }
}

int columns(std::string_view text) {
  int n = 0;
  for (; !text.empty(); ++n) take_character(text);
  return n;
}

// Colours (of 256) that can be distinguished on black and on white.
std::string_view code_of(Ink ink) {
  constexpr std::string_view kCodes[] = {
      "0",       "2",       "1",       "1;32",     "1;33",     "1;31",     "38;5;202", "38;5;74",
      "38;5;33", "38;5;98", "38;5;36", "38;5;245", "38;5;175", "38;5;178", "38;5;137", "38;5;109"};
  return kCodes[std::min(static_cast<size_t>(ink), std::size(kCodes) - 1)];
}

}  // namespace

Canvas::Canvas(int width, int height)
    : width_(std::max(1, width)),
      height_(std::max(1, height)),
      cells_(static_cast<size_t>(width_) * static_cast<size_t>(height_)) {}

int Canvas::put(int x, int y, std::string_view text, Ink ink) {
  for (; !text.empty(); ++x) {
    const char32_t c = take_character(text);
    if (x < 0 || x >= width_ || y < 0 || y >= height_) continue;
    cells_[static_cast<size_t>(y) * static_cast<size_t>(width_) + static_cast<size_t>(x)] = {
        is_simple(c) ? c : kOdd, ink};
  }
  return x;
}

int Canvas::put_within(int x, int y, int room, std::string_view text, Ink ink) {
  room = std::min(room, width_ - x);
  if (room <= 0) return x;
  if (columns(text) <= room) return put(x, y, text, ink);
  std::string_view rest = text;
  for (int i = 0; i + 1 < room; ++i) take_character(rest);
  return put(put(x, y, text.substr(0, text.size() - rest.size()), ink), y, "…", ink);
}

int Canvas::put_wrapped(int x, int y, int last_row, std::string_view text, Ink ink) {
  int at = x;
  while (!text.empty() && y <= last_row) {
    const size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    if (word.empty()) continue;
    const bool fits = at + (at > x) + columns(word) <= width_;
    if (!fits && at > x) {
      if (y == last_row) {
        put(std::min(at, width_ - 1), y, "…", ink);
        return y + 1;
      }
      ++y;
      at = x;
    }
    at = put_within(at + (at > x), y, width_ - x, word, ink);
  }
  return y + 1;
}

std::vector<std::string> Canvas::rows(bool color) const {
  std::vector<std::string> out;
  size_t used = 0;
  for (int y = 0; y < height_; ++y) {
    const Cell* row = &cells_[static_cast<size_t>(y) * static_cast<size_t>(width_)];
    int end = width_;
    while (end > 0 && row[end - 1].glyph == U' ') --end;
    std::string line;
    Ink ink = Ink::kPlain;
    for (int x = 0; x < end; ++x) {
      if (color && row[x].ink != ink) {
        if (ink != Ink::kPlain) line += "\033[0m";
        ink = row[x].ink;
        if (ink != Ink::kPlain) line.append("\033[").append(code_of(ink)).append("m");
      }
      append(line, row[x].glyph);
    }
    if (ink != Ink::kPlain) line += "\033[0m";
    out.push_back(std::move(line));
    if (end > 0) used = out.size();
  }
  out.resize(used);
  return out;
}

std::string ascii_of(std::string_view text) {
  struct Pair {
    std::u32string_view glyphs;
    char letter;
  };
  constexpr Pair kPairs[] = {{U"─┌┐└┘", '-'}, {U"═╔╗╚╝", '='}, {U"│║", '|'},  {U"▶", '>'},
                             {U"█▉▇▆", '#'},  {U"▅▄▃", '+'},   {U"▂▁░", '.'}, {U"·…", '.'}};
  std::string out;
  while (!text.empty()) {
    const char32_t c = take_character(text);
    char letter = c < 0x80 ? static_cast<char>(c) : '?';
    for (const Pair& pair : kPairs) {
      if (pair.glyphs.find(c) != std::u32string_view::npos) letter = pair.letter;
    }
    out += letter;
  }
  return out;
}

}  // namespace headway
