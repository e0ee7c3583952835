#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

// How something is meant, not how it looks: a canvas without colours shows the text alone.
enum class Ink : uint8_t { kPlain, kSoft, kStrong, kGood, kNotice, kBad, kPhase };
// Colours to be told apart, one for each step phase.
constexpr Ink phase_ink(size_t phase) {
  return static_cast<Ink>(static_cast<size_t>(Ink::kPhase) + phase);
}

// Rows and columns of characters. What lies outside is cut off, and what would move a terminal's
// cursor (escapes, wide and combining characters) becomes "?", so that a frame always fits.
class Canvas {
 public:
  Canvas(int width, int height);

  // Writes UTF-8 text from column x of row y on; gives the column behind it.
  int put(int x, int y, std::string_view text, Ink ink = Ink::kPlain);
  // The same in at most `room` columns, with "…" where something was left out.
  int put_within(int x, int y, int room, std::string_view text, Ink ink = Ink::kPlain);
  // Word by word from column x, down to `last_row` at most; gives the row behind it.
  int put_wrapped(int x, int y, int last_row, std::string_view text, Ink ink = Ink::kPlain);

  int width() const { return width_; }
  int height() const { return height_; }
  // Rows up to the last that holds anything, without blanks at their ends.
  std::vector<std::string> rows(bool color) const;

 private:
  struct Cell {
    char32_t glyph = U' ';
    Ink ink = Ink::kPlain;
  };
  const int width_, height_;
  std::vector<Cell> cells_;
};

// Boxes, bars and arrows by the letters of ASCII, column by column, for terminals without UTF-8.
std::string ascii_of(std::string_view text);

}  // namespace headway
