#pragma once

#include <cstdint>
#include <string_view>

namespace headway::cli {

inline constexpr int kGlyphWidth = 5;
inline constexpr int kGlyphHeight = 7;
inline constexpr int kGlyphStep = 6;  // from one letter to the next

// The seven rows of a letter, top first; bit 4 is its leftmost pixel. Lower case as drawn, other
// characters than ASCII as an empty box.
const uint8_t* glyph(char letter);

}  // namespace headway::cli
