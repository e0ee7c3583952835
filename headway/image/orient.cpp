#include "headway/image/orient.h"

#include <cassert>
#include <cstring>

namespace headway {

void orient(const ImageView& source, int orientation, const ImageSpan& target) {
  const bool sideways = turns_sideways(orientation);
  assert(target.width == (sideways ? source.height : source.width));
  // Which ends of the stored image become the top and the left of the upright one.
  const bool flip_columns =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool flip_rows =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const size_t pixel = size_t(source.channels) * size_of(source.dtype);
  for (int y = 0; y < target.height; ++y) {
    uint8_t* out = target.row(y);
    for (int x = 0; x < target.width; ++x, out += pixel) {
      const int row = sideways ? x : y, column = sideways ? y : x;
      const int from_row = flip_rows ? source.height - 1 - row : row;
      const int from_column = flip_columns ? source.width - 1 - column : column;
      std::memcpy(out, source.row(from_row) + from_column * pixel, pixel);
    }
  }
}

}  // namespace headway
