#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

// What a text means, not how it looks: a canvas without colours shows the text alone.
enum class Ink : uint8_t { kPlain, kSoft, kStrong, kGood, kNotice, kBad, kPhase };
// Distinct colours, one for each step phase.
constexpr Ink phase_ink(size_t phase) {
  return static_cast<Ink>(static_cast<size_t>(Ink::kPhase) + phase);
}

// Rows and columns of characters. Text outside is cut off; characters that move a terminal's cursor
// (escapes, wide and combining characters) become "?", so that a frame always fits.
class Canvas {
 public:
  Canvas(int width, int height);

  // Writes UTF-8 text in row y from column x on; returns the column after it.
  int put(int x, int y, std::string_view text, Ink ink = Ink::kPlain);
  // The same in at most `room` columns, with "…" where text was cut.
  int put_within(int x, int y, int room, std::string_view text, Ink ink = Ink::kPlain);
  // Wraps words from column x on, down to `last_row` at most; returns the row after the text.
  int put_wrapped(int x, int y, int last_row, std::string_view text, Ink ink = Ink::kPlain);

  int width() const { return width_; }
  int height() const { return height_; }
  // Rows up to the last one that is not empty, without blanks at their ends.
  std::vector<std::string> rows(bool color) const;

 private:
  struct Cell {
    char32_t glyph = U' ';
    Ink ink = Ink::kPlain;
  };
  const int width_, height_;
  std::vector<Cell> cells_;
};

// Replaces boxes, bars and arrows by ASCII, column by column, for terminals without UTF-8.
std::string ascii_of(std::string_view text);

}  // namespace headway
